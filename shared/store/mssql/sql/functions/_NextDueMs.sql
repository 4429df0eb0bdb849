-- Taskgate._NextDueMs: milliseconds until the definition's next scheduled task is due, 0 when it is; null: none is scheduled.
-- In:     @TaskDefinitionId int
-- Out:    bigint
-- Raises: -
-- Locks:  none; entries that another transaction is writing are skipped: their writer tells when they are due
-- Plan:   first entry of PK_Scheduled under the definition, behind the deleted ones of promoted tasks. A caller that has found none due calls _NextDueFrom
-- Twin:   postgres/sql/functions/_next_due_ms.sql
CREATE OR ALTER FUNCTION Taskgate._NextDueMs (@TaskDefinitionId int)
RETURNS bigint
AS
BEGIN
  RETURN (
    SELECT TOP (1) CASE WHEN s.RunAt > c.NowAt THEN DATEDIFF_BIG(MILLISECOND, c.NowAt, s.RunAt) ELSE 0 END
    FROM (SELECT CONVERT(datetime2(3), SYSUTCDATETIME()) AS NowAt) AS c
    CROSS JOIN Taskgate.Scheduled AS s WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- one probe; versions or not, no wait
    WHERE s.TaskDefinitionId = @TaskDefinitionId
    ORDER BY s.RunAt);
END;
