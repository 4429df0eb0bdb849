-- Taskgate._PayloadIs: is a value of a payload this one?
-- In:     @Found, @Type: of the last _PayloadStep; @Value: as _PayloadHas has it
-- Rows:   one: Has int: 1 or 0
-- Raises: -
-- Locks:  none
-- Plan:   no table; the server writes it into its caller's statement [doc: CREATE FUNCTION, inline]
-- Twin:   none: it stands in postgres/sql/functions/_payload_has.sql
CREATE OR ALTER FUNCTION Taskgate._PayloadIs (@Found nvarchar(max), @Type int, @Value nvarchar(200))
RETURNS TABLE
AS
RETURN
  SELECT CASE WHEN @Type BETWEEN 0 AND 3 AND t.Found = @Value AND DATALENGTH(t.Found) = DATALENGTH(@Value) THEN 1 ELSE 0 END AS Has
  FROM (SELECT CASE @Type WHEN 0 THEN N'null' ELSE @Found END COLLATE Latin1_General_100_BIN2 AS Found) AS t;
