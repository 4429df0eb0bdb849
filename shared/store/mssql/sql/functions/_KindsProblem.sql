-- Taskgate._KindsProblem: the error in the rules of kinds that a registration names.
-- In:     @Kinds: JSON array of at most 1000 {kind, groupBy, isGroupComputed, priority, runInMs, dedupeBy, dedupeMs}, or null
-- Out:    nvarchar(400): field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_kinds_problem.sql
CREATE OR ALTER FUNCTION Taskgate._KindsProblem (@Kinds nvarchar(max))
RETURNS nvarchar(400)
AS
BEGIN
  DECLARE @vShown nvarchar(220) = N' (' + REPLACE(LEFT(@Kinds, 200), N'%', N'%%') + N')';
  DECLARE @vCount int, @vOthers int, @vNames int, @vBadNames int, @vBadPaths int, @vBadComputed int, @vBadPriorities int, @vBadDelays int, @vBadWindows int;
  IF @Kinds IS NULL RETURN NULL;
  IF Taskgate._JsonKind(@Kinds) = N'[' SELECT @vOthers = COUNT(*) FROM OPENJSON(@Kinds) AS j WHERE j.[type] <> 5;
  IF @vOthers IS NULL OR @vOthers > 0 RETURN N'kinds: expected a JSON array of objects' + @vShown;
  SELECT @vCount = COUNT(*), @vNames = COUNT(DISTINCT x.Kind COLLATE Latin1_General_100_BIN2),
         @vBadNames = SUM(CASE WHEN x.Kind IS NULL OR DATALENGTH(x.Kind) NOT BETWEEN 2 AND 400
           OR DATALENGTH(x.Kind) <> DATALENGTH(LTRIM(RTRIM(x.Kind))) THEN 1 ELSE 0 END),
         @vBadPaths = SUM(CASE WHEN p.IsBad = 1 THEN 1 ELSE 0 END),
         @vBadComputed = SUM(CASE WHEN x.Computed NOT IN (N'true', N'false') OR x.GroupBy IS NOT NULL AND x.Computed = N'true' THEN 1 ELSE 0 END),
         @vBadPriorities = SUM(CASE WHEN d.Digits LIKE N'%[^0-9]%' OR DATALENGTH(d.Digits) NOT BETWEEN 2 AND 10
           OR TRY_CONVERT(int, x.Priority) NOT BETWEEN -32768 AND 32767 THEN 1 ELSE 0 END),
         @vBadDelays = SUM(CASE WHEN x.RunInMs LIKE N'%[^0-9]%' OR DATALENGTH(x.RunInMs) NOT BETWEEN 2 AND 26
           OR TRY_CONVERT(bigint, x.RunInMs) > 3153600000000 THEN 1 ELSE 0 END),
         @vBadWindows = SUM(CASE WHEN x.DedupeMs LIKE N'%[^0-9]%' OR DATALENGTH(x.DedupeMs) NOT BETWEEN 2 AND 26
           OR TRY_CONVERT(bigint, x.DedupeMs) NOT BETWEEN 1 AND 3153600000000 OR x.DedupeMs IS NOT NULL AND x.DedupeBy IS NULL THEN 1 ELSE 0 END)
  FROM (
    SELECT v.Kind, v.GroupBy COLLATE Latin1_General_100_BIN2 AS GroupBy, v.Computed COLLATE Latin1_General_100_BIN2 AS Computed,
           v.Priority COLLATE Latin1_General_100_BIN2 AS Priority, v.RunInMs COLLATE Latin1_General_100_BIN2 AS RunInMs,
           v.DedupeBy COLLATE Latin1_General_100_BIN2 AS DedupeBy, v.DedupeMs COLLATE Latin1_General_100_BIN2 AS DedupeMs
    FROM OPENJSON(@Kinds) WITH (
      Kind nvarchar(max) N'$.kind', GroupBy nvarchar(max) N'$.groupBy', Computed nvarchar(max) N'$.isGroupComputed', Priority nvarchar(max) N'$.priority',
      RunInMs nvarchar(max) N'$.runInMs', DedupeBy nvarchar(max) N'$.dedupeBy', DedupeMs nvarchar(max) N'$.dedupeMs') AS v) AS x
  CROSS APPLY (SELECT CASE WHEN x.Priority LIKE N'-%' THEN SUBSTRING(x.Priority, 2, 4000) ELSE x.Priority END AS Digits) AS d
  CROSS APPLY (
    SELECT MAX(CASE WHEN DATALENGTH(w.Path) NOT BETWEEN 2 AND 400 OR w.Path LIKE N'%[^A-Za-z0-9_.]%' OR N'.' + w.Path LIKE N'%.[0-9]%'
                      OR N'.' + w.Path + N'.' LIKE N'%..%' THEN 1 ELSE 0 END) AS IsBad
    FROM (VALUES (x.GroupBy), (x.DedupeBy)) AS w (Path)) AS p;
  RETURN CASE
    WHEN @vCount > 1000 THEN N'kinds: expected at most 1000 (' + CONVERT(nvarchar(11), @vCount) + N')'
    WHEN @vBadNames > 0 THEN N'kinds: expected names of 1..200 characters without blanks at either end' + @vShown
    WHEN @vNames < @vCount THEN N'kinds: expected each name once' + @vShown
    WHEN @vBadPaths > 0 THEN N'kinds: expected paths of names joined by dots, such as customer.id' + @vShown
    WHEN @vBadComputed > 0 THEN N'kinds: expected isGroupComputed true or false, and true only without groupBy' + @vShown
    WHEN @vBadPriorities > 0 THEN N'kinds: expected priorities of -32768..32767' + @vShown
    WHEN @vBadDelays > 0 THEN N'kinds: expected runInMs of 0..3153600000000' + @vShown
    WHEN @vBadWindows > 0 THEN N'kinds: expected dedupeMs of 1..3153600000000, only with dedupeBy' + @vShown END;
END;
