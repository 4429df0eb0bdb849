-- taskgate._find_definition: the id of the definition of a name, or the error that there is none.
-- In:     p_name text
-- Out:    int
-- Raises: TG404 unknown definition
-- Locks:  none
-- Plan:   unique name
-- Twin:   mssql/sql/procedures/_FindDefinition.sql
create or replace function taskgate._find_definition(p_name text) returns int
language plpgsql stable as $$
declare
  v_definition int;
begin
  select x.task_definition_id into v_definition from task_definition x where x.name = p_name;
  if not found then raise exception 'name: unknown definition (%)', p_name using errcode = 'TG404'; end if;
  return v_definition;
end $$;
