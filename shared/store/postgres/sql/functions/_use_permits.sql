-- taskgate._use_permits: tasks have started on a definition's rate.
-- In:     p_task_definition_id int; p_count int: really started; p_from, p_interval_us: as _count_permits gave them, null: no rate
-- Out:    -
-- Raises: -
-- Locks:  rate_bucket, held since _count_permits
-- Plan:   primary key
-- Twin:   mssql/sql/procedures/_UsePermits.sql
create or replace function taskgate._use_permits(p_task_definition_id int, p_count int, p_from timestamptz, p_interval_us bigint) returns void
language sql as $$
  update rate_bucket set next_free_at = p_from + p_count * p_interval_us * interval '1 us'
   where task_definition_id = p_task_definition_id and p_interval_us is not null and p_count > 0
$$;
