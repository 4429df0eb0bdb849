-- Taskgate._SharedProblem: the error in the shared limits that a registration names.
-- In:     @SharedLimits: JSON array of at most 8 {name, limit}, or null
-- Out:    nvarchar(400): field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_shared_problem.sql
CREATE OR ALTER FUNCTION Taskgate._SharedProblem (@SharedLimits nvarchar(max))
RETURNS nvarchar(400)
AS
BEGIN
  DECLARE @vShown nvarchar(220) = N' (' + REPLACE(LEFT(@SharedLimits, 200), N'%', N'%%') + N')';
  DECLARE @vCount int, @vNames int, @vBadNames int, @vBadLimits int;
  IF @SharedLimits IS NULL RETURN NULL;
  IF Taskgate._JsonKind(@SharedLimits) <> N'['
    RETURN N'shared_limits: expected a JSON array of {name, limit}' + @vShown;
  SELECT @vCount = COUNT(*), @vNames = COUNT(DISTINCT x.Name COLLATE Latin1_General_100_BIN2),
         @vBadNames = SUM(CASE WHEN x.Name IS NULL OR DATALENGTH(x.Name) NOT BETWEEN 2 AND 400
           OR DATALENGTH(x.Name) <> DATALENGTH(LTRIM(RTRIM(x.Name))) THEN 1 ELSE 0 END),
         @vBadLimits = SUM(CASE WHEN DATALENGTH(x.Digits) NOT BETWEEN 2 AND 8 OR x.Digits LIKE N'%[^0-9]%' -- a conversion reads more: blanks, +
           OR TRY_CONVERT(int, x.TaskLimit) NOT BETWEEN -1 AND 1000 THEN 1 ELSE 0 END)
  FROM (
    SELECT y.Name, y.TaskLimit, CASE WHEN y.TaskLimit LIKE N'-%' THEN SUBSTRING(y.TaskLimit, 2, 4000) ELSE y.TaskLimit END AS Digits
    FROM (
      SELECT CASE WHEN j.[type] = 5 THEN JSON_VALUE(j.[value], N'$.name') END AS Name,
             CASE WHEN j.[type] = 5 THEN COALESCE(JSON_VALUE(j.[value], N'$.limit'), JSON_QUERY(j.[value], N'$.limit')) END
               COLLATE Latin1_General_100_BIN2 AS TaskLimit -- the text of an array or object is no number, either
      FROM OPENJSON(@SharedLimits) AS j) AS y) AS x;
  RETURN CASE
    WHEN @vCount > 8 THEN N'shared_limits: expected at most 8 (' + CONVERT(nvarchar(11), @vCount) + N')'
    WHEN @vBadNames > 0 THEN N'shared_limits: expected names of 1..200 characters without blanks at either end' + @vShown
    WHEN @vNames < @vCount THEN N'shared_limits: expected each name once' + @vShown
    WHEN @vBadLimits > 0 THEN N'shared_limits: expected limits of -1..1000' + @vShown END;
END;
