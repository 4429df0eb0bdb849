-- taskgate._is_plain: does nothing hang on the end of this task: no key, no group, no wave?
-- In:     p_task task: its row
-- Out:    boolean
-- Raises: -
-- Locks:  none
-- Plan:   no table; one expression, which the planner puts in place of the call
-- Twin:   inside mssql/sql/procedures/_EndTasks.sql
create or replace function taskgate._is_plain(p_task taskgate.task) returns boolean
language sql immutable as $$
  select (p_task).dedupe_key is null and (p_task).group_id is null and (p_task).wave_id is null and (p_task).pending_group_key is null
$$;
