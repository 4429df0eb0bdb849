-- Taskgate._SharedShares: how the tokens of the shared limits of a definition are shared out, as of the last commit.
-- In:     @TaskDefinitionId int; @Worker nvarchar(200): the name of the process
-- Rows:   SharedLimitId int: each that has a limit; TaskLimit int; Mine, Held, Others, Poorest, Richest int: as _Shares, of
--           the process's work on this definition
-- Raises: -; tokens of a damaged string may be missing
-- Locks:  none; steps over rows of executions, as _Shares
-- Plan:   primary keys; one probe when there are none; TaskExecution once per holder
-- Twin:   postgres/sql/functions/_shared_shares.sql
CREATE OR ALTER FUNCTION Taskgate._SharedShares (@TaskDefinitionId int, @Worker nvarchar(200))
RETURNS TABLE
AS
RETURN
  SELECT s.SharedLimitId AS SharedLimitId, COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit) AS TaskLimit,
         h.Mine AS Mine, h.Total AS Held, h.Others AS Others, h.Poorest AS Poorest, h.Richest AS Richest
  FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (FORCESEEK) -- the definition's few rows
  INNER JOIN Taskgate.SharedLimit AS s WITH (FORCESEEK) ON s.SharedLimitId = l.SharedLimitId -- each by its key: others may be locked
  CROSS APPLY Taskgate._Shares(s.ExecutionTokens, NULL, @TaskDefinitionId, @Worker) AS h
  WHERE l.TaskDefinitionId = @TaskDefinitionId AND COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit) <> -1;
