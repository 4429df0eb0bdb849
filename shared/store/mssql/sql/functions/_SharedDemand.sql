-- Taskgate._SharedDemand: the denials by the shared limits of a definition, and the tokens given for them.
-- In:     @TaskDefinitionId int; @LeaseMs int: of the definition, or null: OpenSince isn't asked for; @Now datetime2(3)
-- Rows:   SharedLimitId int: each that has a limit; OpenSince datetime2(3): as _OpenDemand, or null; ReservedMs bigint: as
--           _Reserved, or null
-- Raises: -
-- Locks:  none; steps over rows of demands that are being written
-- Plan:   primary keys; one probe when there are none
-- Twin:   postgres/sql/functions/_shared_demand.sql
CREATE OR ALTER FUNCTION Taskgate._SharedDemand (@TaskDefinitionId int, @LeaseMs int, @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT q.SharedLimitId AS SharedLimitId,
         CASE WHEN q.DeniedAt > DATEADD(MILLISECOND, -@LeaseMs, @Now) AND q.GivenAt < q.DeniedAt THEN q.DeniedAt END AS OpenSince,
         CASE WHEN q.GivenAt >= q.DeniedAt AND r.LastsMs > DATEDIFF_BIG(MILLISECOND, q.GivenAt, @Now)
              THEN r.LastsMs - DATEDIFF_BIG(MILLISECOND, q.GivenAt, @Now) END AS ReservedMs
  FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (FORCESEEK) -- the definition's few rows
  INNER JOIN Taskgate.SharedLimit AS s WITH (FORCESEEK) ON s.SharedLimitId = l.SharedLimitId -- each by its key: others may be locked
  INNER JOIN Taskgate.SharedTokenDemand AS q WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- one row each; versions or not, no wait
    ON q.SharedLimitId = s.SharedLimitId
  CROSS APPLY (
    SELECT CASE WHEN DATEDIFF_BIG(MILLISECOND, q.DeniedAt, q.GivenAt) < 3800
                THEN 100 + DATEDIFF_BIG(MILLISECOND, q.DeniedAt, q.GivenAt) / 2 ELSE 2000 END AS LastsMs) AS r
  WHERE l.TaskDefinitionId = @TaskDefinitionId AND COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit) <> -1;
