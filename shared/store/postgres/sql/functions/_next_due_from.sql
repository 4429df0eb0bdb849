-- taskgate._next_due_from: milliseconds until the definition's first task is due that is scheduled behind an instant, 0 when it is; null: none is.
-- In:     p_task_definition_id int; p_from timestamptz: nothing before it is looked at
-- Out:    bigint
-- Raises: -
-- Locks:  none
-- Plan:   first entry of pk_scheduled under the definition behind the instant
-- Twin:   mssql/sql/functions/_NextDueFrom.sql
create or replace function taskgate._next_due_from(p_task_definition_id int, p_from timestamptz) returns bigint
language sql stable as $$
  select greatest(ceil(extract(epoch from s.run_at - taskgate._now()) * 1000), 0)::bigint
    from taskgate.scheduled s where s.task_definition_id = p_task_definition_id and s.run_at > p_from order by s.run_at, s.task_id limit 1
$$;
