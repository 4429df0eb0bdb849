-- Taskgate._PassesOn: do calls of functions without tasks hold tokens of a shared limit? They pass on the last one, too.
-- In:     @SharedLimitId int
-- Rows:   one: HeldCount int: tokens that they hold
-- Raises: -; tokens of a damaged string may be missing
-- Locks:  none; steps over rows of executions, as _Shares
-- Plan:   primary keys, of TaskExecution and TaskDefinition once per holder
-- Twin:   postgres/sql/functions/_passes_on.sql
CREATE OR ALTER FUNCTION Taskgate._PassesOn (@SharedLimitId int)
RETURNS TABLE
AS
RETURN
  SELECT COALESCE(SUM(h.HeldCount), 0) AS HeldCount
  FROM Taskgate.SharedLimit AS s WITH (FORCESEEK) -- one row
  CROSS APPLY (
    SELECT t.Grantee AS Grantee, COUNT(*) AS HeldCount
    FROM Taskgate._ReadTokens(s.ExecutionTokens) AS t
    WHERE t.IsHeld = 1
    GROUP BY t.Grantee) AS h
  INNER JOIN Taskgate.TaskExecution AS e WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- once per holder; versions or not, no wait
    ON e.TaskExecutionId = h.Grantee
  INNER JOIN Taskgate.TaskDefinition AS d WITH (FORCESEEK) ON d.TaskDefinitionId = e.TaskDefinitionId -- once per holder
  WHERE s.SharedLimitId = @SharedLimitId AND LEFT(d.Name, 6) = N'calls:';
