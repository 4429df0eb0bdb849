-- taskgate._is_json_container: is this the text of a JSON object or array?
-- In:     p_text text, not null
-- Out:    boolean
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_JsonKind.sql
create or replace function taskgate._is_json_container(p_text text) returns boolean
language sql immutable as $$
  select left(ltrim(p_text, E' \t\r\n'), 1) in ('{', '[') and taskgate._is_json(p_text)
$$;
