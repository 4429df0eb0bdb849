-- Taskgate._SharedGift: how many tokens a process should give for those who were denied by limits that its definition shares: by
-- the same rule as in _SettleTokens, of each of them. Calls of functions without tasks give their last one, too, where no process
-- holds more: they take turns.
-- In:     @TaskDefinitionId int; @LeaseMs int: of the definition; @Worker nvarchar(200): the process; @Now datetime2(3)
-- Rows:   one: Gift int: the most that one of them asks for, below 1: enough are free; Shared nvarchar(max): ids of those that
--           ask, joined by commas; null both: none does
-- Raises: -
-- Locks:  none: the caller holds the rows of SharedLimit and of the definition
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_shared_gift.sql
CREATE OR ALTER FUNCTION Taskgate._SharedGift (@TaskDefinitionId int, @LeaseMs int, @Worker nvarchar(200), @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT MAX(CASE WHEN x.Half < p.Part - x.Poorest THEN x.Half ELSE p.Part - x.Poorest END
             - (h.TaskLimit - h.Held)) AS Gift,
         STRING_AGG(CONVERT(nvarchar(max), q.SharedLimitId), N',') AS Shared
  FROM Taskgate._SharedDemand(@TaskDefinitionId, @LeaseMs, @Now) AS q
  INNER JOIN Taskgate._SharedShares(@TaskDefinitionId, @Worker) AS h ON h.SharedLimitId = q.SharedLimitId
  INNER JOIN Taskgate.TaskDefinition AS d WITH (FORCESEEK) ON d.TaskDefinitionId = @TaskDefinitionId -- one row, by its key
  CROSS APPLY (SELECT CASE WHEN h.Mine - h.Poorest >= 2 THEN h.Poorest ELSE 0 END AS Poorest) AS w
  CROSS APPLY (
    SELECT w.Poorest AS Poorest,
           CASE WHEN h.Mine = 1 AND h.Richest = 1 AND LEFT(d.Name, 6) = N'calls:' THEN 1 ELSE (h.Mine - w.Poorest) / 2 END AS Half) AS x
  CROSS APPLY (SELECT h.Others + CASE x.Poorest WHEN 0 THEN 2 ELSE 1 END AS Parties) AS y
  CROSS APPLY (SELECT (h.TaskLimit + y.Parties - 1) / y.Parties AS Part) AS p
  WHERE q.OpenSince IS NOT NULL AND (h.Richest - h.Mine < 2 OR q.OpenSince <= DATEADD(SECOND, -2, @Now));
