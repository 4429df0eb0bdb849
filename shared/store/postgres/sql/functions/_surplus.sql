-- taskgate._surplus: tokens of a definition held above its limit, as of the last commit; 0 without a limit.
-- In:     p_task_definition_id int
-- Out:    int, 0 or more
-- Raises: -
-- Locks:  none
-- Plan:   primary key; counts S:0 in the text, which a token id can't contain
-- Twin:   mssql/sql/functions/_Surplus.sql
create or replace function taskgate._surplus(p_task_definition_id int) returns int
language sql stable as $$
  select case when coalesce(d.concurrency_limit_override, d.concurrency_limit) < 0 then 0
         else greatest((length(d.execution_tokens) - length(replace(d.execution_tokens, 'S:0', ''))) / 3
                       - coalesce(d.concurrency_limit_override, d.concurrency_limit), 0) end
    from taskgate.task_definition d where d.task_definition_id = p_task_definition_id
$$;
