-- Taskgate._Instant: an ISO-8601 instant with its zone, to the millisecond; null: it isn't one.
-- In:     @Text nvarchar(max) or null: 2026-11-21T10:20:30Z, with up to seven digits of a fraction; Z, or an offset like +01:00
-- Out:    datetime2(3), as UTC; digits below a millisecond are dropped
-- Raises: -
-- Locks:  none
-- Plan:   no table; as _InstantOf, which has the rules
-- Twin:   postgres/sql/functions/_instant.sql
CREATE OR ALTER FUNCTION Taskgate._Instant (@Text nvarchar(max))
RETURNS datetime2(3)
AS
BEGIN
  RETURN (SELECT i.At FROM Taskgate._InstantOf(@Text) AS i);
END;
