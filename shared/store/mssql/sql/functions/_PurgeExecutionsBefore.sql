-- Taskgate._PurgeExecutionsBefore: executions that ended before this instant may go: as long ago as the longest retention of any
--         definition, so that finished tasks still name their workers; a day at least, for late repeats.
-- In:     @Now
-- Out:    datetime2(3)
-- Raises: -
-- Locks:  none
-- Plan:   PK_TaskDefinition, all of them: there are few
-- Twin:   postgres/sql/functions/_purge_executions_before.sql
CREATE OR ALTER FUNCTION Taskgate._PurgeExecutionsBefore (@Now datetime2(3))
RETURNS datetime2(3)
AS
BEGIN
  RETURN (
    SELECT DATEADD(MILLISECOND, -CONVERT(int, x.Ms % 86400000), DATEADD(DAY, -CONVERT(int, x.Ms / 86400000), @Now))
    FROM (
      SELECT COALESCE(MAX(k.Ms), 86400000) AS Ms
      FROM (
        SELECT CASE WHEN d.RetainDoneMs > d.RetainDeadMs THEN d.RetainDoneMs ELSE d.RetainDeadMs END AS Ms
        FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition))) AS k -- all of them: there are few
      WHERE k.Ms > 86400000) AS x);
END;
