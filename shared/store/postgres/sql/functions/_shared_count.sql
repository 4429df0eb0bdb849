-- taskgate._shared_count: tokens that the executions of all definitions hold that draw from a shared limit: without a limit no
-- string counts them.
-- In:     p_shared_limit_id int
-- Out:    int, 0 or more
-- Raises: -
-- Locks:  none
-- Plan:   the open executions of these definitions
-- Twin:   mssql/sql/functions/_SharedCount.sql
create or replace function taskgate._shared_count(p_shared_limit_id int) returns int
language sql stable as $$
  select coalesce(sum(e.token_count), 0)::int
    from taskgate.task_definition_shared_limit l
    join taskgate.task_execution e on e.task_definition_id = l.task_definition_id and e.state in (1, 3)
   where l.shared_limit_id = p_shared_limit_id
$$;
