-- taskgate._iso: an instant as ISO-8601 UTC with milliseconds, as JSON shows it.
-- In:     p_at timestamptz or null
-- Out:    text, like 2026-11-21T10:20:30.123Z
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_Iso.sql
create or replace function taskgate._iso(p_at timestamptz) returns text
language sql stable as $$ select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
