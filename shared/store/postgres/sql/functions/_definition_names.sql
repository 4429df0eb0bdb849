-- taskgate._definition_names: names of definitions as a JSON array, for the hints of those who made tasks ready; null: none.
-- In:     p_ids int[]: may repeat; p_except int: left out
-- Out:    text: JSON array of strings, sorted
-- Raises: -
-- Locks:  none
-- Plan:   primary key
-- Twin:   mssql/sql/functions/_DefinitionNames.sql
create or replace function taskgate._definition_names(p_ids int[], p_except int) returns text
language sql stable as $$
  select '[' || string_agg(to_json(d.name)::text, ',' order by d.name) || ']'
    from taskgate.task_definition d where d.task_definition_id = any (p_ids) and d.task_definition_id <> p_except
$$;
