-- taskgate._looks_like_instant: has this text the form of an ISO-8601 instant with its zone? PostgreSQL itself also reads words like
--         tomorrow, and takes what has no zone as of the session's.
-- In:     p_text text or null
-- Out:    boolean: whether there is such a day, a cast to timestamptz says
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   inside mssql/sql/functions/_Instant.sql
create or replace function taskgate._looks_like_instant(p_text text) returns boolean
language sql immutable as $$
  select p_text ~ '^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,7})?(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)$'
$$;
