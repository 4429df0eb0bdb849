-- Taskgate._OpenDemand: was a token denied within the last lease, and has none been given back for that denial yet?
-- In:     @TaskDefinitionId int; @LeaseMs int: of the definition; @Now datetime2(3)
-- Rows:   DeniedAt datetime2(3): one row, or none
-- Raises: -
-- Locks:  none; steps over rows that are being written: the next call tells
-- Plan:   primary key of TokenDemand; of TokenGift only when the demand is fresh
-- Twin:   postgres/sql/functions/_open_demand.sql
CREATE OR ALTER FUNCTION Taskgate._OpenDemand (@TaskDefinitionId int, @LeaseMs int, @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT q.DeniedAt AS DeniedAt
  FROM Taskgate.TokenDemand AS q WITH (READCOMMITTEDLOCK, READPAST) -- one row; versions or not, no wait
  WHERE q.TaskDefinitionId = @TaskDefinitionId AND q.DeniedAt > DATEADD(MILLISECOND, -@LeaseMs, @Now)
    AND EXISTS (
      SELECT 1 FROM Taskgate.TokenGift AS g WITH (READCOMMITTEDLOCK, READPAST) -- as above; a locked row: another process is giving
      WHERE g.TaskDefinitionId = @TaskDefinitionId AND g.GivenAt < q.DeniedAt);
