-- taskgate._payload_has: does this value stand at a path of a payload?
-- In:     p_payload: JSON text of an object or array, or null; p_path: names joined by dots; p_value: a text, or a number, true, false or
--         null as the payload writes it
-- Out:    boolean. Case and blanks count. A member that is missing, or there twice, has no value; nor has an object or array
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_PayloadHas.sql; shared/core/payload-key.ts
create or replace function taskgate._payload_has(p_payload text, p_path text, p_value text) returns boolean
language plpgsql immutable as $$
declare
  v_value json;
  v_step text;
  v_count int;
  v_found text;
begin
  -- The value at the path stands in the text, unless something in it is escaped: most payloads aren't parsed.
  if p_payload is null or position('\' in p_payload) = 0 and position(p_value in p_payload) = 0 then return false; end if;
  v_value := _readable_json(p_payload);
  foreach v_step in array string_to_array(p_path, '.') loop
    if json_typeof(v_value) <> 'object' then return false; end if;
    select count(*), max(e.value::text) into v_count, v_found from json_each(v_value) e where e.key = v_step;
    if v_count <> 1 then return false; end if;
    v_value := v_found;
  end loop;
  if json_typeof(v_value) in ('object', 'array') then return false; end if;
  v_found := coalesce(v_value #>> '{}', 'null');
  return v_found = p_value and not (json_typeof(v_value) = 'string' and position(chr(65535) in v_found) > 0 and position('\u' in p_payload) > 0);
end $$;
