-- Taskgate._NextDueFrom: milliseconds until the definition's first task is due that is scheduled behind an instant, 0 when it is; null: none is.
-- In:     @TaskDefinitionId int; @From datetime2(3): nothing before it is looked at, and no deleted entry of a promoted task either
-- Out:    bigint
-- Raises: -
-- Locks:  none; entries that another transaction is writing are skipped: their writer tells when they are due
-- Plan:   first entry of PK_Scheduled under the definition behind the instant
-- Twin:   postgres/sql/functions/_next_due_from.sql
CREATE OR ALTER FUNCTION Taskgate._NextDueFrom (@TaskDefinitionId int, @From datetime2(3))
RETURNS bigint
AS
BEGIN
  RETURN (
    SELECT TOP (1) CASE WHEN s.RunAt > c.NowAt THEN DATEDIFF_BIG(MILLISECOND, c.NowAt, s.RunAt) ELSE 0 END
    FROM (SELECT CONVERT(datetime2(3), SYSUTCDATETIME()) AS NowAt) AS c
    CROSS JOIN Taskgate.Scheduled AS s WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- one probe; versions or not, no wait
    WHERE s.TaskDefinitionId = @TaskDefinitionId AND s.RunAt > @From
    ORDER BY s.RunAt);
END;
