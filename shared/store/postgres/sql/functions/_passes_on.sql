-- taskgate._passes_on: do calls of functions without tasks hold tokens of a shared limit? They pass on the last one, too.
-- In:     p_shared_limit_id int
-- Out:    boolean
-- Raises: -
-- Locks:  none
-- Plan:   primary keys, of task_execution and task_definition once per token that is held
-- Twin:   mssql/sql/functions/_PassesOn.sql
create or replace function taskgate._passes_on(p_shared_limit_id int) returns boolean
language sql stable as $$
  select exists (
    select 1 from taskgate.shared_limit s
     cross join lateral taskgate._read_tokens(case when taskgate._tokens_are_sound(s.execution_tokens) then s.execution_tokens else '' end) t
      join taskgate.task_execution e on e.task_execution_id = t.grantee
      join taskgate.task_definition d on d.task_definition_id = e.task_definition_id
     where s.shared_limit_id = p_shared_limit_id and t.is_held and starts_with(d.name, 'calls:'))
$$;
