-- Taskgate._JsonKind: is this the text of a JSON object or array, and of which? It may begin with any blank that JSON knows.
-- In:     @Text nvarchar(max) or null
-- Out:    nchar(1): { or [; N'' (equal to a blank) when it is neither
-- Raises: -
-- Locks:  none
-- Plan:   no table. ISJSON takes only objects and arrays, and only blanks stand before the first bracket of one [doc: ISJSON]
-- Twin:   postgres/sql/functions/_is_json_container.sql
CREATE OR ALTER FUNCTION Taskgate._JsonKind (@Text nvarchar(max))
RETURNS nchar(1)
AS
BEGIN
  -- One RETURN and no variable: the server writes it into the queries that call it for each row [doc: Scalar UDF inlining].
  RETURN CASE
    WHEN COALESCE(ISJSON(@Text), 0) = 0 THEN N''
    WHEN CHARINDEX(N'[', @Text COLLATE Latin1_General_100_BIN2) > 0
      AND CHARINDEX(N'{', LEFT(@Text, CHARINDEX(N'[', @Text COLLATE Latin1_General_100_BIN2)) COLLATE Latin1_General_100_BIN2) = 0 THEN N'['
    ELSE N'{' END;
END;
