-- taskgate._check_range: refuses a number that is missing or out of its range.
-- In:     p_what text: the parameter's name, for the error; p_value, p_least, p_most bigint
-- Out:    -
-- Raises: TG422 out of range
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/procedures/_CheckRange.sql
create or replace function taskgate._check_range(p_what text, p_value bigint, p_least bigint, p_most bigint) returns void
language plpgsql immutable as $$
begin
  if p_value between p_least and p_most then return; end if;
  raise exception '%: expected %..% (%)', p_what, p_least, p_most, p_value using errcode = 'TG422';
end $$;
