-- taskgate._instant: an ISO-8601 instant, to the millisecond; null: it isn't one.
-- In:     p_text text or null
-- Out:    timestamptz
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   TRY_CONVERT(datetimeoffset(3), ..) there
create or replace function taskgate._instant(p_text text) returns timestamptz
language plpgsql stable as $$
begin
  if p_text !~ '^\d{4}-\d\d-\d\d' then return null; end if;   -- PostgreSQL also reads words like tomorrow
  return date_trunc('milliseconds', p_text::timestamptz);
exception when data_exception then
  return null;
end $$;
