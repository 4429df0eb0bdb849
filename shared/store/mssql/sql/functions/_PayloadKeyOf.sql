-- Taskgate._PayloadKeyOf: _PayloadKey as a row, for statements with many payloads: the server writes it into them.
-- In:     @Payload, @Path: as _PayloadKey has them, or null
-- Rows:   one: Answer nvarchar(max), as _PayloadKey has it
-- Raises: -
-- Locks:  none
-- Plan:   as _PayloadKeyIn. Two steps are written into the statement; a path with more calls the scalar function for each row
-- Twin:   none: see _PayloadKey
CREATE OR ALTER FUNCTION Taskgate._PayloadKeyOf (@Payload nvarchar(max), @Path nvarchar(200))
RETURNS TABLE
AS
RETURN
  SELECT CASE WHEN DATALENGTH(s.Rest) > 0 THEN Taskgate._PayloadKey(@Payload, @Path) COLLATE Latin1_General_100_BIN2 ELSE k.Answer END AS Answer
  FROM (
    SELECT CASE
             WHEN @Path IS NULL THEN -1
             WHEN CHARINDEX(N'[', @Payload COLLATE Latin1_General_100_BIN2) > 0
               AND CHARINDEX(N'{', LEFT(@Payload, CHARINDEX(N'[', @Payload COLLATE Latin1_General_100_BIN2)) COLLATE Latin1_General_100_BIN2) = 0 THEN 4 -- as _JsonKind
             ELSE 5 END AS Type) AS p
  CROSS APPLY Taskgate._PayloadStep(@Payload, p.Type, @Path + N'.', N'payload') AS f
  CROSS APPLY Taskgate._PayloadStep(f.Value, f.Type, f.Rest, f.At) AS s
  CROSS APPLY Taskgate._PayloadKeyIn(s.Value, s.Type, s.At) AS k;
