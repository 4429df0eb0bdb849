-- Taskgate._InstantOf: _Instant as a row, for statements that read many: the server writes it into them.
-- In:     @Text nvarchar(max) or null: 2026-11-21T10:20:30Z, with up to seven digits of a fraction; Z, or an offset like +01:00
-- Out:    At datetime2(3), as UTC; digits below a millisecond are dropped; null: it isn't one
-- Raises: -
-- Locks:  none
-- Plan:   no table; only this form means the same in every language of a session
-- Twin:   none: postgres/sql/functions/_instant.sql is cheap enough for both
CREATE OR ALTER FUNCTION Taskgate._InstantOf (@Text nvarchar(max))
RETURNS TABLE
AS
RETURN
  -- Without a zone the text that is converted is null.
  SELECT CASE
      WHEN LEFT(b.Body, 19) COLLATE Latin1_General_100_BIN2
          NOT LIKE N'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]'
        OR (DATALENGTH(b.Body) > 38
          AND (DATALENGTH(b.Body) NOT BETWEEN 42 AND 54 OR SUBSTRING(b.Body, 20, 1) <> N'.'
            OR SUBSTRING(b.Body, 21, 7) COLLATE Latin1_General_100_BIN2 LIKE N'%[^0-9]%')) THEN NULL
      ELSE CONVERT(datetime2(3), SWITCHOFFSET(TRY_CONVERT(datetimeoffset(3), LEFT(b.Body, 23) + b.Zone), 0)) END AS At -- as UTC
  FROM (SELECT CONVERT(nvarchar(40), @Text) AS Whole) AS t -- a longer one is cut, and too long then, too
  CROSS APPLY (
    SELECT CASE
      WHEN t.Whole COLLATE Latin1_General_100_BIN2 LIKE N'%Z' THEN N'Z'
      WHEN t.Whole COLLATE Latin1_General_100_BIN2 LIKE N'%+[0-9][0-9]:[0-9][0-9]'
        OR t.Whole COLLATE Latin1_General_100_BIN2 LIKE N'%-[0-9][0-9]:[0-9][0-9]'
        THEN SUBSTRING(t.Whole, DATALENGTH(t.Whole) / 2 - 5, 6) END AS Zone) AS z
  CROSS APPLY (SELECT z.Zone, LEFT(t.Whole, (DATALENGTH(t.Whole) - DATALENGTH(z.Zone)) / 2) AS Body) AS b;
