-- Taskgate._PayloadKeyIn: the key that a value of a payload is.
-- In:     @Value, @Type, @At: of the last _PayloadStep
-- Rows:   one: Answer nvarchar(max), as _PayloadKey has it
-- Raises: -
-- Locks:  none
-- Plan:   no table; the server writes it into its caller's statement [doc: CREATE FUNCTION, inline]; Number, by its key, for keys with
--         other signs than those of ASCII
-- Twin:   none: it stands in postgres/sql/functions/_payload_key.sql
CREATE OR ALTER FUNCTION Taskgate._PayloadKeyIn (@Value nvarchar(max), @Type int, @At nvarchar(300))
RETURNS TABLE
AS
RETURN
  SELECT CASE
           WHEN @Type IN (-1, 0) THEN NULL
           WHEN @Type = -2 THEN N'!' + v.Value
           WHEN DATALENGTH(d.Digits) BETWEEN 2 AND 32 AND d.Digits NOT LIKE N'%[^0-9]%' -- a number, or a text that is the same key
             AND (v.Value = N'0' OR LEFT(d.Digits, 1) <> N'0') AND TRY_CONVERT(bigint, d.Digits) <= 9007199254740991 THEN N'=' + v.Value
           WHEN @Type = 2 THEN x.Begins + LEFT(v.Value, 100) + N')'
           WHEN @Type = 3 THEN x.Begins + v.Value + N')'
           WHEN @Type = 4 THEN x.Begins + N'an array)'
           WHEN @Type = 5 THEN x.Begins + N'an object)'
           WHEN p.Broken > 0 THEN x.Begins + N'a text with U+0000 or half a surrogate pair)'
           WHEN b.HasBlank = 0 AND DATALENGTH(v.Value) BETWEEN 2 AND 400 THEN N'=' + v.Value
           ELSE x.Begins + LEFT(v.Value, 220) + N')' END AS Answer
  FROM (SELECT @Value COLLATE Latin1_General_100_BIN2 AS Value) AS v
  CROSS APPLY (
    SELECT N'!' + @At COLLATE Latin1_General_100_BIN2 + N': expected a key: a text of 1..200 characters without blanks at either end, a whole number in plain digits up to 9007199254740991, or null (' AS Begins,
           CASE WHEN v.Value LIKE N'%[^ -~]%' THEN DATALENGTH(LEFT(v.Value, 1000)) / 2 END AS Units) AS x -- null: letters of ASCII
  CROSS APPLY (SELECT CASE WHEN LEFT(v.Value, 1) = N'-' THEN SUBSTRING(v.Value, 2, 100) ELSE v.Value END AS Digits) AS d
  CROSS APPLY (
    -- U+0000 and halves of surrogate pairs; a text that is too long is refused anyway, so only its first 1000 units matter.
    SELECT SUM(CASE WHEN u.Unit = 0 THEN 1
                    WHEN u.Unit BETWEEN 55296 AND 56319 AND u.NextUnit NOT BETWEEN 56320 AND 57343 THEN 1
                    WHEN u.Unit BETWEEN 56320 AND 57343 AND u.LastUnit NOT BETWEEN 55296 AND 56319 THEN 1 ELSE 0 END) AS Broken
    FROM Taskgate.Number AS n WITH (FORCESEEK) -- as many as the key has units
    CROSS APPLY (
      SELECT UNICODE(SUBSTRING(v.Value, n.N, 1)) AS Unit, COALESCE(UNICODE(SUBSTRING(v.Value, n.N + 1, 1)), 0) AS NextUnit,
             UNICODE(SUBSTRING(N'-' + v.Value, n.N, 1)) AS LastUnit) AS u
    WHERE n.N <= CONVERT(smallint, x.Units)) AS p
  CROSS APPLY (
    -- Blanks are those of trim() in JavaScript.
    SELECT CASE
      WHEN x.Units IS NULL THEN CASE WHEN DATALENGTH(v.Value) <> DATALENGTH(LTRIM(RTRIM(v.Value))) THEN 1 ELSE 0 END
      ELSE (
        SELECT COUNT(*)
        FROM (VALUES (UNICODE(LEFT(v.Value, 1))), (UNICODE(RIGHT(v.Value, 1)))) AS e (Unit)
        WHERE e.Unit BETWEEN 9 AND 13 OR e.Unit BETWEEN 8192 AND 8202 OR e.Unit IN (32, 160, 5760, 8232, 8233, 8239, 8287, 12288, 65279)) END
      AS HasBlank) AS b;
