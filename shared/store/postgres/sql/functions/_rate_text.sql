-- taskgate._rate_text: a rate as answers and the audit write it.
-- In:     p_count int: null or 0: nothing is said; -1: said to have none; p_period_ms, p_burst int
-- Out:    text: null | none | {"count":..,"periodMs":..,"burst":..}
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_RateText.sql
create or replace function taskgate._rate_text(p_count int, p_period_ms int, p_burst int) returns text
language sql immutable as $$
  select case when p_count = -1 then 'none'
              when p_count > 0 then '{"count":' || p_count || ',"periodMs":' || p_period_ms || ',"burst":' || p_burst || '}' end
$$;
