-- Taskgate._SharedRoom: how many more tokens a process may hold while some of a shared limit were given for others: no more
-- than its part, and where it holds some no more than the richest other one has.
-- In:     @TaskDefinitionId int; @Worker nvarchar(200): the process; @Now datetime2(3)
-- Rows:   one: Room int, by that limit where it is least; null: nothing is reserved
-- Raises: -
-- Locks:  none: the caller holds the rows of SharedLimit
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_shared_room.sql
CREATE OR ALTER FUNCTION Taskgate._SharedRoom (@TaskDefinitionId int, @Worker nvarchar(200), @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT MIN(CASE WHEN m.Most > h.Mine THEN m.Most - h.Mine ELSE 0 END) AS Room
  FROM Taskgate._SharedDemand(@TaskDefinitionId, NULL, @Now) AS q
  INNER JOIN Taskgate._SharedShares(@TaskDefinitionId, @Worker) AS h ON h.SharedLimitId = q.SharedLimitId
  CROSS APPLY (SELECT (h.TaskLimit + h.Others) / (h.Others + 1) AS Part) AS p -- rounded up
  CROSS APPLY (SELECT CASE WHEN h.Mine > 0 AND p.Part > h.Richest THEN h.Richest ELSE p.Part END AS Most) AS m
  WHERE q.ReservedMs IS NOT NULL;
