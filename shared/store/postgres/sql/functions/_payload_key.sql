-- taskgate._payload_key: the key that stands at a path of a payload.
-- In:     p_payload: JSON text of an object or array, or null; p_path: names joined by dots, as task_kind keeps them, or null
-- Out:    text: null: none; = and the key; or ! and the error. A text or a whole number in plain digits is a key, by the rules of
--         other keys; a member that is missing or null gives none; everything else is wrong, a member that is there twice, too
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_PayloadKey.sql; shared/core/payload-key.ts
create or replace function taskgate._payload_key(p_payload text, p_path text) returns text
language plpgsql immutable as $$
declare
  v_expected constant text := ': expected a key: a text of 1..200 characters without blanks at either end, a whole number in plain digits up to 9007199254740991, or null (';
  v_at text := 'payload';
  v_value json;
  v_type text;
  v_step text;
  v_count int;
  v_key text;
begin
  if p_payload is null or p_path is null then return null; end if;
  v_value := _readable_json(p_payload);
  foreach v_step in array string_to_array(p_path, '.') loop
    v_type := json_typeof(v_value);
    if v_type = 'null' then return null; end if;
    if v_type <> 'object' then
      return '!' || v_at || ': expected an object (' || case v_type when 'array' then 'an array' when 'string' then 'a text' else 'a ' || v_type end || ')';
    end if;
    v_at := v_at || '.' || v_step;
    select count(*), max(e.value::text) into v_count, v_key from json_each(v_value) e where e.key = v_step;
    if v_count = 0 then return null; end if;
    if v_count > 1 then return '!' || v_at || ': expected it once (' || v_count || ' times)'; end if;
    v_value := v_key;
  end loop;
  v_type := json_typeof(v_value);
  v_key := v_value #>> '{}';
  if v_type = 'string' then
    if position(chr(65535) in v_key) > 0 and position('\u' in p_payload) > 0 then
      return '!' || v_at || v_expected || 'a text with U+0000 or half a surrogate pair)';
    end if;
    -- Characters beyond U+FFFF count twice, as nvarchar counts; blanks are those of trim() in JavaScript.
    if char_length(v_key) between 1 and 200 and v_key !~ '^[\u0009-\u000d \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]|[\u0009-\u000d \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]$'
       and (octet_length(v_key) <= 200 or char_length(v_key) + char_length(regexp_replace(v_key, '[\u0001-\uffff]', '', 'g')) <= 200) then
      return '=' || v_key;
    end if;
    return '!' || v_at || v_expected || left(v_key, 220) || ')';
  end if;
  if v_type = 'null' then return null; end if;
  if v_type = 'number' and v_key ~ '^(0|-?[1-9][0-9]{0,15})$' and abs(v_key::numeric) <= 9007199254740991 then return '=' || v_key; end if;
  return '!' || v_at || v_expected || case v_type when 'object' then 'an object' when 'array' then 'an array' else left(v_key, 100) end || ')';
end $$;
