-- taskgate._rate_problem: the error in a rate to be set.
-- In:     p_count, p_period_ms, p_burst int
-- Out:    text: field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_RateProblem.sql
create or replace function taskgate._rate_problem(p_count int, p_period_ms int, p_burst int) returns text
language sql immutable as $$
  select case
    when p_count is null or p_count not between 1 and 1000000 then 'rate_count: expected 1..1000000 (' || coalesce(p_count::text, 'null') || ')'
    when p_period_ms is null or p_period_ms not between 1000 and 86400000 then 'rate_period_ms: expected 1000..86400000 (' || coalesce(p_period_ms::text, 'null') || ')'
    when p_burst is null or p_burst not between 1 and p_count then 'rate_burst: expected 1..rate_count (' || coalesce(p_burst::text, 'null') || ')'
  end
$$;
