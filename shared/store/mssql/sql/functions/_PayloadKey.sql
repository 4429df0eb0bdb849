-- Taskgate._PayloadKey: the key that stands at a path of a payload.
-- In:     @Payload: JSON text of an object or array, or null; @Path: names joined by dots, as TaskKind keeps them, or null
-- Out:    nvarchar(max): null: none; = and the key; or ! and the error. A text or a whole number in plain digits is a key, by the
--         rules of other keys; a member that is missing or null gives none; everything else is wrong, a member that is there twice, too
-- Raises: -
-- Locks:  none
-- Plan:   no table; Number, by its key, for keys with other signs than those of ASCII. OPENJSON without a schema has a row for each
--         member, with its type and its whole text; JSON_VALUE would stop at 4000 characters and at the first member of a name
-- Twin:   postgres/sql/functions/_payload_key.sql; shared/core/payload-key.ts
CREATE OR ALTER FUNCTION Taskgate._PayloadKey (@Payload nvarchar(max), @Path nvarchar(200))
RETURNS nvarchar(max)
AS
BEGIN
  DECLARE @vExpected nvarchar(200) = N': expected a key: a text of 1..200 characters without blanks at either end, a whole number in plain digits up to 9007199254740991, or null (';
  DECLARE @vAt nvarchar(300) = N'payload', @vValue nvarchar(max) = @Payload, @vNext nvarchar(max), @vType int = 5, @vRest nvarchar(201) = @Path + N'.',
          @vStep nvarchar(200), @vCount int, @vBad int, @vUnits smallint, @vDigits nvarchar(100);
  IF @Payload IS NULL OR @Path IS NULL RETURN NULL;
  IF Taskgate._JsonKind(@Payload) = N'[' SET @vType = 4;
  WHILE DATALENGTH(@vRest) > 0
  BEGIN
    IF @vType = 0 RETURN NULL;
    IF @vType <> 5
      RETURN N'!' + @vAt + N': expected an object (' + CASE @vType WHEN 1 THEN N'a text' WHEN 2 THEN N'a number' WHEN 3 THEN N'a boolean' ELSE N'an array' END + N')';
    SET @vStep = LEFT(@vRest, CHARINDEX(N'.', @vRest) - 1);
    SET @vRest = SUBSTRING(@vRest, CHARINDEX(N'.', @vRest) + 1, 201);
    SET @vAt = @vAt + N'.' + @vStep;
    SELECT @vCount = COUNT(*), @vType = MAX(j.[type]), @vNext = MAX(j.[value])
    FROM OPENJSON(@vValue) AS j
    WHERE j.[key] COLLATE Latin1_General_100_BIN2 = @vStep AND DATALENGTH(j.[key]) = DATALENGTH(@vStep); -- blanks at the end count
    IF @vCount = 0 RETURN NULL;
    IF @vCount > 1 RETURN N'!' + @vAt + N': expected it once (' + CONVERT(nvarchar(11), @vCount) + N' times)';
    SET @vValue = @vNext;
  END;
  IF @vType = 0 RETURN NULL;
  IF @vType = 2
  BEGIN
    IF DATALENGTH(@vValue) <= 34 -- a sign and 16 digits
      SET @vDigits = CASE WHEN LEFT(@vValue, 1) = N'-' THEN SUBSTRING(@vValue, 2, 100) ELSE @vValue END;
    IF DATALENGTH(@vDigits) BETWEEN 2 AND 32 AND @vDigits COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^0-9]%'
      AND (@vValue = N'0' OR LEFT(@vDigits, 1) <> N'0') AND TRY_CONVERT(bigint, @vDigits) <= 9007199254740991
      RETURN N'=' + @vValue;
    RETURN N'!' + @vAt + @vExpected + LEFT(@vValue, 100) + N')';
  END;
  IF @vType <> 1
    RETURN N'!' + @vAt + @vExpected + CASE @vType WHEN 3 THEN @vValue WHEN 4 THEN N'an array' ELSE N'an object' END + N')';
  IF @vValue COLLATE Latin1_General_100_BIN2 LIKE N'%[^ -~]%'
  BEGIN
    SET @vUnits = CASE WHEN DATALENGTH(@vValue) <= 2000 THEN DATALENGTH(@vValue) / 2 ELSE 1000 END;
    -- U+0000 and halves of surrogate pairs; a text that is too long is refused below, so only its first 1000 units matter.
    SELECT @vBad = SUM(CASE WHEN u.Unit = 0 THEN 1
                            WHEN u.Unit BETWEEN 55296 AND 56319 AND u.NextUnit NOT BETWEEN 56320 AND 57343 THEN 1
                            WHEN u.Unit BETWEEN 56320 AND 57343 AND u.LastUnit NOT BETWEEN 55296 AND 56319 THEN 1 ELSE 0 END)
    FROM Taskgate.Number AS n WITH (FORCESEEK) -- as many as the key has units
    CROSS APPLY (
      SELECT UNICODE(SUBSTRING(@vValue COLLATE Latin1_General_100_BIN2, n.N, 1)) AS Unit,
             COALESCE(UNICODE(SUBSTRING(@vValue COLLATE Latin1_General_100_BIN2, n.N + 1, 1)), 0) AS NextUnit,
             UNICODE(SUBSTRING(N'-' + @vValue COLLATE Latin1_General_100_BIN2, n.N, 1)) AS LastUnit) AS u
    WHERE n.N <= @vUnits;
    IF @vBad > 0 RETURN N'!' + @vAt + @vExpected + N'a text with U+0000 or half a surrogate pair)';
    -- Blanks are those of trim() in JavaScript.
    SELECT @vBad = COUNT(*)
    FROM (VALUES (UNICODE(LEFT(@vValue COLLATE Latin1_General_100_BIN2, 1))), (UNICODE(RIGHT(@vValue COLLATE Latin1_General_100_BIN2, 1)))) AS e (Unit)
    WHERE e.Unit BETWEEN 9 AND 13 OR e.Unit BETWEEN 8192 AND 8202 OR e.Unit IN (32, 160, 5760, 8232, 8233, 8239, 8287, 12288, 65279);
  END;
  ELSE SET @vBad = CASE WHEN DATALENGTH(@vValue) <> DATALENGTH(LTRIM(RTRIM(@vValue))) THEN 1 ELSE 0 END;
  RETURN CASE WHEN @vBad = 0 AND DATALENGTH(@vValue) BETWEEN 2 AND 400 THEN N'=' + @vValue
              ELSE N'!' + @vAt + @vExpected + LEFT(@vValue, 220) + N')' END;
END;
