-- Taskgate._PayloadHas: does this value stand at a path of a payload?
-- In:     @Payload: JSON text of an object or array, or null; @Path: names joined by dots; @Value: a text, or a number, true, false or null
--         as the payload writes it
-- Out:    bit. Case and blanks count. A member that is missing, or there twice, has no value; nor has an object or array
-- Raises: -
-- Locks:  none
-- Plan:   no table. OPENJSON without a schema has a row for each member, with its type and its whole text
-- Twin:   postgres/sql/functions/_payload_has.sql; shared/core/payload-key.ts
CREATE OR ALTER FUNCTION Taskgate._PayloadHas (@Payload nvarchar(max), @Path nvarchar(200), @Value nvarchar(200))
RETURNS bit
AS
BEGIN
  DECLARE @vValue nvarchar(max) = @Payload, @vNext nvarchar(max), @vType int = 5, @vRest nvarchar(201) = @Path + N'.', @vStep nvarchar(200), @vCount int;
  -- The value at the path stands in the text, unless something in it is escaped: most payloads aren't parsed.
  IF @Payload IS NULL OR (DATALENGTH(@Value) > 0 AND CHARINDEX(N'\', @Payload COLLATE Latin1_General_100_BIN2) = 0
      AND CHARINDEX(@Value, @Payload COLLATE Latin1_General_100_BIN2) = 0)
    RETURN 0;
  IF Taskgate._JsonKind(@Payload) = N'[' SET @vType = 4;
  WHILE DATALENGTH(@vRest) > 0
  BEGIN
    IF @vType <> 5 RETURN 0;
    SET @vStep = LEFT(@vRest, CHARINDEX(N'.', @vRest) - 1);
    SET @vRest = SUBSTRING(@vRest, CHARINDEX(N'.', @vRest) + 1, 201);
    SELECT @vCount = COUNT(*), @vType = MAX(j.[type]), @vNext = MAX(j.[value])
    FROM OPENJSON(@vValue) AS j
    WHERE j.[key] COLLATE Latin1_General_100_BIN2 = @vStep AND DATALENGTH(j.[key]) = DATALENGTH(@vStep); -- blanks at the end count
    IF @vCount <> 1 RETURN 0;
    SET @vValue = @vNext;
  END;
  IF @vType = 0 SET @vValue = N'null';
  RETURN CASE WHEN @vType IN (0, 1, 2, 3) AND @vValue COLLATE Latin1_General_100_BIN2 = @Value AND DATALENGTH(@vValue) = DATALENGTH(@Value) THEN 1 ELSE 0 END;
END;
