-- Taskgate._SharedUse: how far the shared limits of a definition are used, as of the last commit.
-- In:     @TaskDefinitionId int; @Now datetime2(3)
-- Rows:   SharedLimitId int, Name, TaskLimit int (-1 none), Source: code | operator; Held int: tokens in the string, also of the dead;
--         Live int: of them held by live executions; RetryInMs bigint: until the first of these leases ends, or null
-- Raises: -
-- Locks:  none
-- Plan:   primary keys; one probe when there are none
-- Twin:   postgres/sql/functions/_shared_use.sql
CREATE OR ALTER FUNCTION Taskgate._SharedUse (@TaskDefinitionId int, @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT s.SharedLimitId AS SharedLimitId, s.Name AS Name, COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit) AS TaskLimit,
         CASE WHEN s.ConcurrencyLimitOverride IS NULL THEN N'code' ELSE N'operator' END COLLATE Latin1_General_100_BIN2 AS Source,
         CONVERT(int, (DATALENGTH(s.ExecutionTokens) - DATALENGTH(REPLACE(s.ExecutionTokens COLLATE Latin1_General_100_BIN2, N'S:0', N''))) / 6) AS Held,
         u.Live AS Live, u.RetryInMs AS RetryInMs
  FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (FORCESEEK) -- the definition's few rows
  INNER JOIN Taskgate.SharedLimit AS s ON s.SharedLimitId = l.SharedLimitId
  CROSS APPLY (
    SELECT COALESCE(SUM(h.HeldCount), 0) AS Live, MIN(DATEDIFF_BIG(MILLISECOND, @Now, e.LeaseUntil)) + 1 AS RetryInMs
    FROM (SELECT t.Grantee AS Grantee, COUNT(*) AS HeldCount
          FROM Taskgate._ReadTokens(s.ExecutionTokens) AS t
          WHERE t.IsHeld = 1
          GROUP BY t.Grantee) AS h
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = h.Grantee -- once per holder
    WHERE e.State = 1 AND e.LeaseUntil >= @Now) AS u
  WHERE l.TaskDefinitionId = @TaskDefinitionId;
