-- Taskgate._Iso: an instant as ISO-8601 UTC with milliseconds, as JSON shows it.
-- In:     @At datetime2(3) or null
-- Out:    nvarchar(24), like 2026-11-21T10:20:30.123Z
-- Raises: -
-- Locks:  none
-- Plan:   no table; style 121 always writes all three digits of the fraction
-- Twin:   postgres/sql/functions/_iso.sql
CREATE OR ALTER FUNCTION Taskgate._Iso (@At datetime2(3))
RETURNS nvarchar(24)
AS
BEGIN
  RETURN REPLACE(CONVERT(nvarchar(23), @At, 121), N' ', N'T') + N'Z';
END;
