-- taskgate._is_json: is this JSON text?
-- In:     p_text text, not null
-- Out:    boolean
-- Raises: -
-- Locks:  none
-- Plan:   no table (PostgreSQL 15 has no IS JSON)
-- Twin:   ISJSON there
create or replace function taskgate._is_json(p_text text) returns boolean
language plpgsql immutable as $$
begin
  perform p_text::json;
  return true;
exception when data_exception or statement_too_complex then   -- the latter: nested too deep
  return false;
end $$;
