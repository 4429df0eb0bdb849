-- Taskgate._JsonKind: is this the text of a JSON object or array, and of which? It may begin with any blank that JSON knows.
-- In:     @Text nvarchar(max) or null
-- Out:    nchar(1): { or [; N'' (equal to a blank) when it is neither
-- Raises: -
-- Locks:  none
-- Plan:   no table. Only blanks stand before the first bracket of an object or array, and a quote before one of a text, should a
--         server take that for JSON, too
-- Twin:   postgres/sql/functions/_is_json_container.sql
CREATE OR ALTER FUNCTION Taskgate._JsonKind (@Text nvarchar(max))
RETURNS nchar(1)
AS
BEGIN
  DECLARE @vArray bigint, @vObject bigint, @vQuote bigint;
  IF @Text IS NULL OR ISJSON(@Text) <> 1 RETURN N'';
  SET @vArray = CHARINDEX(N'[', @Text COLLATE Latin1_General_100_BIN2);
  SET @vObject = CHARINDEX(N'{', @Text COLLATE Latin1_General_100_BIN2);
  SET @vQuote = CHARINDEX(N'"', @Text COLLATE Latin1_General_100_BIN2);
  RETURN CASE
    WHEN @vArray > 0 AND (@vObject = 0 OR @vArray < @vObject) AND (@vQuote = 0 OR @vArray < @vQuote) THEN N'['
    WHEN @vObject > 0 AND (@vQuote = 0 OR @vObject < @vQuote) THEN N'{'
    ELSE N'' END;
END;
