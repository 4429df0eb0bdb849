-- Taskgate._Instant: an ISO-8601 instant with its zone, to the millisecond; null: it isn't one.
-- In:     @Text nvarchar(max) or null: 2026-11-21T10:20:30Z, with up to seven digits of a fraction; Z, or an offset like +01:00
-- Out:    datetime2(3), as UTC; digits below a millisecond are dropped
-- Raises: -
-- Locks:  none
-- Plan:   no table; only this form means the same in every language of a session
-- Twin:   postgres/sql/functions/_instant.sql
CREATE OR ALTER FUNCTION Taskgate._Instant (@Text nvarchar(max))
RETURNS datetime2(3)
AS
BEGIN
  DECLARE @vText nvarchar(40), @vZone nvarchar(6), @vBody nvarchar(40);
  SET @vText = @Text; -- a longer one is cut, and too long then, too
  SET @vZone = CASE
    WHEN @vText COLLATE Latin1_General_100_BIN2 LIKE N'%Z' THEN N'Z'
    WHEN @vText COLLATE Latin1_General_100_BIN2 LIKE N'%+[0-9][0-9]:[0-9][0-9]'
      OR @vText COLLATE Latin1_General_100_BIN2 LIKE N'%-[0-9][0-9]:[0-9][0-9]'
      THEN SUBSTRING(@vText, DATALENGTH(@vText) / 2 - 5, 6) END;
  SET @vBody = LEFT(@vText, (DATALENGTH(@vText) - DATALENGTH(@vZone)) / 2);
  -- One RETURN: the server writes it into the queries that call it for each row [doc: Scalar UDF inlining].
  -- Without a zone the text that is converted is null.
  RETURN CASE
    WHEN LEFT(@vBody, 19) COLLATE Latin1_General_100_BIN2
        NOT LIKE N'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]'
      OR (DATALENGTH(@vBody) > 38
        AND (DATALENGTH(@vBody) NOT BETWEEN 42 AND 54 OR SUBSTRING(@vBody, 20, 1) <> N'.'
          OR SUBSTRING(@vBody, 21, 7) COLLATE Latin1_General_100_BIN2 LIKE N'%[^0-9]%')) THEN NULL
    ELSE CONVERT(datetime2(3), SWITCHOFFSET(TRY_CONVERT(datetimeoffset(3), LEFT(@vBody, 23) + @vZone), 0)) END; -- as UTC
END;
