-- Taskgate._PayloadHasOf: _PayloadHas as a row, for statements with many payloads: the server writes it into them.
-- In:     @Payload, @Path, @Value: as _PayloadHas has them
-- Rows:   one: Has int: 1 or 0
-- Raises: -
-- Locks:  none
-- Plan:   no table. Two steps are written into the statement; a path with more calls the scalar function for each row. The value stands
--         in the payload's text, unless something in it is escaped: most payloads aren't parsed
-- Twin:   none: see _PayloadHas
CREATE OR ALTER FUNCTION Taskgate._PayloadHasOf (@Payload nvarchar(max), @Path nvarchar(200), @Value nvarchar(200))
RETURNS TABLE
AS
RETURN
  SELECT CASE WHEN DATALENGTH(s.Rest) > 0 THEN Taskgate._PayloadHas(@Payload, @Path, @Value) ELSE h.Has END AS Has
  FROM (
    SELECT CASE
             WHEN DATALENGTH(@Value) > 0 AND CHARINDEX(N'\', @Payload COLLATE Latin1_General_100_BIN2) = 0
               AND CHARINDEX(@Value, @Payload COLLATE Latin1_General_100_BIN2) = 0 THEN -1
             WHEN CHARINDEX(N'[', @Payload COLLATE Latin1_General_100_BIN2) > 0
               AND CHARINDEX(N'{', LEFT(@Payload, CHARINDEX(N'[', @Payload COLLATE Latin1_General_100_BIN2)) COLLATE Latin1_General_100_BIN2) = 0 THEN 4 -- as _JsonKind
             ELSE 5 END AS Type) AS p
  CROSS APPLY Taskgate._PayloadStep(@Payload, p.Type, @Path + N'.', N'') AS f
  CROSS APPLY Taskgate._PayloadStep(f.Value, f.Type, f.Rest, N'') AS s
  CROSS APPLY Taskgate._PayloadIs(s.Value, s.Type, @Value) AS h;
