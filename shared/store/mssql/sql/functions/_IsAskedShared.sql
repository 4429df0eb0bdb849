-- Taskgate._IsAskedShared: as _IsAsked, for an execution denied by a limit that this definition shares.
-- In:     @TaskDefinitionId int; @LeaseMs int: of the definition; @Worker nvarchar(200): the process; @Now datetime2(3)
-- Rows:   OpenSince datetime2(3): one row per limit that asks
-- Raises: -
-- Locks:  none; Call it with nothing locked: without row versions it waits for who changes the limit's tokens
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_is_asked_shared.sql
CREATE OR ALTER FUNCTION Taskgate._IsAskedShared (@TaskDefinitionId int, @LeaseMs int, @Worker nvarchar(200), @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT q.OpenSince AS OpenSince
  FROM Taskgate._SharedDemand(@TaskDefinitionId, @LeaseMs, @Now) AS q
  INNER JOIN Taskgate._SharedShares(@TaskDefinitionId, @Worker) AS h ON h.SharedLimitId = q.SharedLimitId
  WHERE q.OpenSince IS NOT NULL AND h.Mine > 1
    AND (h.Richest - h.Mine < 2 OR q.OpenSince <= DATEADD(SECOND, -2, @Now));
