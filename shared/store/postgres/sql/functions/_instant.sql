-- taskgate._instant: an ISO-8601 instant with its zone, to the millisecond; null: it isn't one.
-- In:     p_text text or null: 2026-11-21T10:20:30Z, with up to seven digits of a fraction; Z, or an offset like +01:00
-- Out:    timestamptz; digits below a millisecond are dropped
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_Instant.sql
create or replace function taskgate._instant(p_text text) returns timestamptz
language plpgsql stable as $$
declare
  v_at timestamptz;
begin
  -- PostgreSQL itself also reads words like tomorrow, and takes a time without a zone as one of the session's zone.
  if p_text is null or p_text !~ '^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,7})?(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)$' then
    return null;
  end if;
  v_at := regexp_replace(p_text, '(\.\d{3})\d+', '\1')::timestamptz;
  return case when v_at >= '0001-01-01T00:00:00Z' and v_at < '10000-01-01T00:00:00Z' then v_at end;   -- what T-SQL can say
exception when data_exception then
  return null;
end $$;
