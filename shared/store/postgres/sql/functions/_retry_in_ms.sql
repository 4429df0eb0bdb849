-- taskgate._retry_in_ms: milliseconds until the first live holder's lease ends: the longest wait that makes sense
-- for an execution that was denied and gets no hint; null when no execution holds a token (limit 0).
-- In:     p_task_definition_id int
-- Out:    bigint, 1 or more
-- Raises: -
-- Locks:  none
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_DenyEarly.sql answers both
create or replace function taskgate._retry_in_ms(p_task_definition_id int) returns bigint
language sql stable as $$
  select o_retry_in_ms from _deny_early(p_task_definition_id, null)
$$;
