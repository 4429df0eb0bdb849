-- taskgate._readable_json: a payload without the escapes that json can't read: half a surrogate pair and U+0000 are U+FFFF.
-- In:     p_payload: JSON text
-- Out:    text: JSON text
-- Raises: -
-- Locks:  none
-- Plan:   no table. Each step is one pass, also over a payload of nothing but such escapes: a pattern that looks ahead and behind takes a
--         second for one. U+0001 marks what stays: it stands in no JSON text
-- Twin:   none: OPENJSON reads them
create or replace function taskgate._readable_json(p_payload text) returns text
language plpgsql immutable as $$
declare
  v_text text;
begin
  if position('\u' in p_payload) = 0 then return p_payload; end if;
  -- With each escaped backslash written otherwise, what looks like an escape is one.
  v_text := replace(replace(p_payload, '\\', '\u005c'), '\u0000', '\uffff');
  v_text := regexp_replace(v_text, '\\(u[dD][89abAB][0-9a-fA-F]{2})\\(u[dD][c-fC-F][0-9a-fA-F]{2})', chr(1) || '\1' || chr(1) || '\2', 'g');
  v_text := regexp_replace(v_text, '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\uffff', 'g');
  return replace(v_text, chr(1), '\');
end $$;
