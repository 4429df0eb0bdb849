-- Taskgate._PayloadStep: one step of a path into a payload.
-- In:     @Value: the JSON value that the path has led to; @Type int: its type, as OPENJSON numbers them; @Rest: the names that are left, each
--         with a dot behind it; @At: the names so far, for errors
-- Rows:   one: Value, Type, Rest, At behind the step. Type -1: there is no value, whatever Value says; -2: Value is the error. Where no name
--         is left and behind such an end Value, Type and At stay as they are
-- Raises: -
-- Locks:  none
-- Plan:   no table; the server writes it into its caller's statement [doc: CREATE FUNCTION, inline]. OPENJSON without a schema has a row
--         for each member, with its type and its whole text; JSON_VALUE would stop at 4000 characters and at the first member of a name
-- Twin:   none: a loop in postgres/sql/functions/_payload_key.sql, _payload_has.sql
CREATE OR ALTER FUNCTION Taskgate._PayloadStep (@Value nvarchar(max), @Type int, @Rest nvarchar(201), @At nvarchar(300))
RETURNS TABLE
AS
RETURN
  SELECT CASE
           WHEN x.IsStep = 0 THEN @Value COLLATE Latin1_General_100_BIN2
           WHEN m.Found = 1 THEN m.Value
           WHEN m.Found <> 0 THEN x.Next + N': expected it once (' + CONVERT(nvarchar(11), m.Found) + N' times)'
           ELSE @At COLLATE Latin1_General_100_BIN2 + N': expected an object ('
               + CASE @Type WHEN 1 THEN N'a text' WHEN 2 THEN N'a number' WHEN 3 THEN N'a boolean' ELSE N'an array' END + N')' END AS Value,
         CASE WHEN x.IsStep = 0 THEN @Type WHEN m.Found = 1 THEN m.Type WHEN @Type = 0 OR (@Type = 5 AND m.Found = 0) THEN -1 ELSE -2 END AS Type,
         SUBSTRING(@Rest COLLATE Latin1_General_100_BIN2, DATALENGTH(x.Step) / 2 + 2, 201) AS Rest,
         CASE x.IsStep WHEN 1 THEN x.Next ELSE @At COLLATE Latin1_General_100_BIN2 END AS At
  FROM (
    SELECT s.Step COLLATE Latin1_General_100_BIN2 AS Step, CASE WHEN DATALENGTH(@Rest) > 0 AND @Type >= 0 THEN 1 ELSE 0 END AS IsStep,
           @At COLLATE Latin1_General_100_BIN2 + N'.' + s.Step AS Next
    FROM (SELECT LEFT(@Rest, CHARINDEX(N'.', @Rest + N'.') - 1) AS Step) AS s) AS x
  CROSS APPLY (
    SELECT COUNT(*) AS Found, MAX(j.[type]) AS Type, MAX(j.[value]) COLLATE Latin1_General_100_BIN2 AS Value
    FROM OPENJSON(CASE @Type WHEN 5 THEN @Value END) AS j
    WHERE j.[key] COLLATE Latin1_General_100_BIN2 = x.Step AND DATALENGTH(j.[key]) = DATALENGTH(x.Step)) AS m; -- blanks at the end count
