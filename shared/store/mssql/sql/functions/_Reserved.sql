-- Taskgate._Reserved: are tokens that were given for a denied execution still reserved for processes with few tokens? They are until
-- the denied one has asked again: for 0.1 s and half of the time from its denial to the gift, two seconds at most.
-- In:     @TaskDefinitionId int; @Now datetime2(3)
-- Rows:   ForMs bigint: how much longer; one row, or none. None as well when a denial was noted since: all were held then
-- Raises: -
-- Locks:  none; steps over rows that are being written
-- Plan:   primary key of TokenGift; of TokenDemand only when something was given within the last two seconds
-- Twin:   postgres/sql/functions/_reserved_ms.sql
CREATE OR ALTER FUNCTION Taskgate._Reserved (@TaskDefinitionId int, @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT r.LastsMs - DATEDIFF_BIG(MILLISECOND, g.GivenAt, @Now) AS ForMs
  FROM Taskgate.TokenGift AS g WITH (READCOMMITTEDLOCK, READPAST) -- one row; versions or not, no wait
  INNER JOIN Taskgate.TokenDemand AS q WITH (READCOMMITTEDLOCK, READPAST) -- as above
    ON q.TaskDefinitionId = g.TaskDefinitionId AND q.DeniedAt <= g.GivenAt
  CROSS APPLY (
    SELECT CASE WHEN DATEDIFF_BIG(MILLISECOND, q.DeniedAt, g.GivenAt) < 3800
                THEN 100 + DATEDIFF_BIG(MILLISECOND, q.DeniedAt, g.GivenAt) / 2 ELSE 2000 END AS LastsMs) AS r
  WHERE g.TaskDefinitionId = @TaskDefinitionId AND g.GivenAt > DATEADD(SECOND, -2, @Now)
    AND r.LastsMs > DATEDIFF_BIG(MILLISECOND, g.GivenAt, @Now);
