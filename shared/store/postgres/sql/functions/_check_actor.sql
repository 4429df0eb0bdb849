-- taskgate._check_actor: the name that the audit gets; refuses one that is empty, and a name or a reason that is too long. No text is
--         truncated silently.
-- In:     p_changed_by text: 1..200 characters, not all blanks; null: the login; p_reason text: at most 400, or null
-- Out:    text: p_changed_by, or sql:LOGIN
-- Raises: TG422 a text too long, or an actor that is empty
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/procedures/_CheckActor.sql
create or replace function taskgate._check_actor(p_changed_by text, p_reason text) returns text
language plpgsql stable as $$
begin
  if char_length(p_changed_by) > 200 then
    raise exception 'changed_by: expected at most 200 characters (%)', left(p_changed_by, 220) using errcode = 'TG422';
  elsif btrim(p_changed_by) = '' then
    raise exception 'changed_by: expected a name, or null for the login (%)', p_changed_by using errcode = 'TG422';
  elsif char_length(p_reason) > 400 then
    raise exception 'reason: expected at most 400 characters (%)', left(p_reason, 420) using errcode = 'TG422';
  end if;
  return coalesce(p_changed_by, left('sql:' || session_user, 200));
end $$;
