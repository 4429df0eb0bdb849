-- taskgate._check_range: refuses a number that is missing or out of its range.
-- In:     p_what text: the parameter's name, for the error; p_value, p_min, p_max bigint
-- Out:    -
-- Raises: TG422 out of range
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/procedures/_CheckRange.sql
create or replace function taskgate._check_range(p_what text, p_value bigint, p_min bigint, p_max bigint) returns void
language plpgsql immutable as $$
begin
  if p_value between p_min and p_max then return; end if;
  raise exception '%: expected %..% (%)', p_what, p_min, p_max, p_value using errcode = 'TG422';
end $$;
