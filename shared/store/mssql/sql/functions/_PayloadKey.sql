-- Taskgate._PayloadKey: the key that stands at a path of a payload.
-- In:     @Payload: JSON text of an object or array; @Path: names joined by dots, as TaskKind keeps them
-- Out:    nvarchar(max): null: none; = and the key; or ! and the error. A text or a whole number in plain digits is a key, by the
--         rules of other keys; a member that is missing or null gives none; everything else is wrong, a member that is there twice, too
-- Raises: -
-- Locks:  none
-- Plan:   a loop over the path, which can't be inlined: statements with many rows call _PayloadKeyOf, which comes here for long paths only
-- Twin:   postgres/sql/functions/_payload_key.sql; shared/core/payload-key.ts
CREATE OR ALTER FUNCTION Taskgate._PayloadKey (@Payload nvarchar(max), @Path nvarchar(200))
RETURNS nvarchar(max)
AS
BEGIN
  DECLARE @vValue nvarchar(max) = @Payload, @vType int = CASE Taskgate._JsonKind(@Payload) WHEN N'[' THEN 4 ELSE 5 END,
          @vRest nvarchar(201) = @Path + N'.', @vAt nvarchar(300) = N'payload',
          @vNextValue nvarchar(max), @vNextType int, @vNextRest nvarchar(201), @vNextAt nvarchar(300), @vAnswer nvarchar(max);
  WHILE DATALENGTH(@vRest) > 0
  BEGIN
    SELECT @vNextValue = s.Value, @vNextType = s.Type, @vNextRest = s.Rest, @vNextAt = s.At
    FROM Taskgate._PayloadStep(@vValue, @vType, @vRest, @vAt) AS s;
    SELECT @vValue = @vNextValue, @vType = @vNextType, @vRest = @vNextRest, @vAt = @vNextAt;
  END;
  SELECT @vAnswer = k.Answer FROM Taskgate._PayloadKeyIn(@vValue, @vType, @vAt) AS k;
  RETURN @vAnswer;
END;
