-- taskgate._check_actor: refuses the name or the reason of a change when it is too long. No text is truncated silently.
-- In:     p_changed_by text: at most 200 characters; p_reason text: at most 400, or null
-- Out:    -
-- Raises: TG422 a text too long
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/procedures/_CheckActor.sql
create or replace function taskgate._check_actor(p_changed_by text, p_reason text) returns void
language plpgsql immutable as $$
begin
  if char_length(p_changed_by) > 200 then
    raise exception 'changed_by: expected at most 200 characters (%)', left(p_changed_by, 220) using errcode = 'TG422';
  elsif char_length(p_reason) > 400 then
    raise exception 'reason: expected at most 400 characters (%)', left(p_reason, 420) using errcode = 'TG422';
  end if;
end $$;
