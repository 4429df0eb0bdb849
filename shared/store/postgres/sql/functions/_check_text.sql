-- taskgate._check_text: refuses a name or a key that is missing, empty, too long, or has blanks at an end.
-- In:     p_what text: the parameter's name, for the error; p_text text
-- Out:    -
-- Raises: TG422 not such a text
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/procedures/_CheckText.sql
create or replace function taskgate._check_text(p_what text, p_text text) returns void
language plpgsql immutable as $$
begin
  if char_length(p_text) between 1 and 200 and p_text = btrim(p_text) then return; end if;
  raise exception '%: expected 1..200 characters without blanks at either end (%)', p_what, left(p_text, 220) using errcode = 'TG422';
end $$;
