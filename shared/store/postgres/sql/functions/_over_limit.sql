-- taskgate._over_limit: tokens of a definition held above its limit, or above one that it shares, the greater number, as of
-- the last commit; 0 without a limit.
-- In:     p_task_definition_id int
-- Out:    int, 0 or more
-- Raises: -
-- Locks:  none
-- Plan:   primary key
-- Twin:   mssql/sql/functions/_OverLimit.sql
create or replace function taskgate._over_limit(p_task_definition_id int) returns int
language sql stable as $$
  select greatest(
         case when coalesce(d.concurrency_limit_override, d.concurrency_limit) < 0 then 0
         else greatest(_held_tokens(d.execution_tokens)
                       - coalesce(d.concurrency_limit_override, d.concurrency_limit), 0) end,
         (select max(_held_tokens(s.execution_tokens) - coalesce(s.concurrency_limit_override, s.concurrency_limit))
            from taskgate.task_definition_shared_limit l join taskgate.shared_limit s on s.shared_limit_id = l.shared_limit_id
           where l.task_definition_id = d.task_definition_id and coalesce(s.concurrency_limit_override, s.concurrency_limit) >= 0))
    from taskgate.task_definition d where d.task_definition_id = p_task_definition_id
$$;
