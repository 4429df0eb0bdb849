-- taskgate._is_json_list: is this the text of a JSON array that can be read to its end? U+0000 and half of a surrogate pair can't be.
-- In:     p_text text, or null: it isn't
-- Out:    boolean
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_JsonKind.sql
create or replace function taskgate._is_json_list(p_text text) returns boolean
language plpgsql immutable as $$
begin
  return coalesce(jsonb_typeof(p_text::jsonb) = 'array', false);
exception when data_exception or statement_too_complex then   -- the latter: nested too deep
  return false;
end $$;
