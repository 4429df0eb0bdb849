-- Taskgate._PayloadHas: does this value stand at a path of a payload?
-- In:     @Payload: JSON text of an object or array, or null; @Path: names joined by dots; @Value: a text, or a number, true, false or null
--         as the payload writes it
-- Out:    bit. Case and blanks count. A member that is missing, or there twice, has no value; nor has an object or array
-- Raises: -
-- Locks:  none
-- Plan:   a loop over the path, which can't be inlined: statements with many rows call _PayloadHasOf, which comes here for long paths only
-- Twin:   postgres/sql/functions/_payload_has.sql; shared/core/payload-key.ts
CREATE OR ALTER FUNCTION Taskgate._PayloadHas (@Payload nvarchar(max), @Path nvarchar(200), @Value nvarchar(200))
RETURNS bit
AS
BEGIN
  DECLARE @vValue nvarchar(max) = @Payload, @vType int = CASE Taskgate._JsonKind(@Payload) WHEN N'[' THEN 4 ELSE 5 END,
          @vRest nvarchar(201) = @Path + N'.', @vNextValue nvarchar(max), @vNextType int, @vNextRest nvarchar(201), @vHas bit;
  WHILE DATALENGTH(@vRest) > 0
  BEGIN
    SELECT @vNextValue = s.Value, @vNextType = s.Type, @vNextRest = s.Rest FROM Taskgate._PayloadStep(@vValue, @vType, @vRest, N'') AS s;
    SELECT @vValue = @vNextValue, @vType = @vNextType, @vRest = @vNextRest;
  END;
  SELECT @vHas = h.Has FROM Taskgate._PayloadIs(@vValue, @vType, @Value) AS h;
  RETURN @vHas;
END;
