-- Taskgate._OverLimit: tokens of a definition held above its limit, or above one that it shares, the greater number, as of
-- the last commit; 0 without a limit.
-- In:     @TaskDefinitionId int
-- Out:    int, 0 or more
-- Raises: -
-- Locks:  none
-- Plan:   primary key; counts S:0 in the text of a shared limit, which a token id can't contain
-- Twin:   postgres/sql/functions/_over_limit.sql
CREATE OR ALTER FUNCTION Taskgate._OverLimit (@TaskDefinitionId int)
RETURNS int
AS
BEGIN
  RETURN (
    SELECT COALESCE(MAX(CASE WHEN x.TaskLimit < 0 OR x.Held <= x.TaskLimit THEN 0 ELSE x.Held - x.TaskLimit END), 0)
    FROM (
      SELECT COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit) AS TaskLimit,
             d.HeldCount AS Held
      FROM Taskgate.TaskDefinition AS d
      WHERE d.TaskDefinitionId = @TaskDefinitionId
      UNION ALL
      SELECT COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit),
             CONVERT(int, (DATALENGTH(s.ExecutionTokens) - DATALENGTH(REPLACE(s.ExecutionTokens COLLATE Latin1_General_100_BIN2, N'S:0', N''))) / 6)
      FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (FORCESEEK) -- the definition's few rows
      INNER JOIN Taskgate.SharedLimit AS s WITH (FORCESEEK) ON s.SharedLimitId = l.SharedLimitId -- each by its key: others may be locked
      WHERE l.TaskDefinitionId = @TaskDefinitionId) AS x);
END;
