-- taskgate._next_due_ms: milliseconds until the definition's next scheduled task is due, 0 when it is; null: none is scheduled.
-- In:     p_task_definition_id int
-- Out:    bigint
-- Raises: -
-- Locks:  none
-- Plan:   first entry of pk_scheduled under the definition
-- Twin:   mssql/sql/functions/_NextDueMs.sql
create or replace function taskgate._next_due_ms(p_task_definition_id int) returns bigint
language sql stable as $$
  select greatest(ceil(extract(epoch from s.run_at - taskgate._now()) * 1000), 0)::bigint
    from taskgate.scheduled s where s.task_definition_id = p_task_definition_id order by s.run_at, s.task_id limit 1
$$;
