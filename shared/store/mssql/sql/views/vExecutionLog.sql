-- Taskgate.vExecutionLog: the log of attempts, one row each: running, prefetched, done, failed, cancelled, lost, continued.
-- Columns: TaskId, Definition, Kind, Payload, Worker, StartedAt, EndedAt, DurationMs, Outcome, Error, TaskExecutionId, Fence
--          StartedAt = EndedAt less the worker's measured duration; of a running or lost attempt: when it was claimed;
--          of any other without a told duration: when it was claimed, or null where it is done
-- Twin:    postgres/sql/views/v_execution_log.sql
CREATE OR ALTER VIEW Taskgate.vExecutionLog
AS
SELECT t.TaskId AS TaskId, d.Name AS Definition, t.Kind AS Kind, COALESCE(CONVERT(nvarchar(max), t.PayloadUtf8) COLLATE Latin1_General_100_BIN2, t.Payload) AS Payload, e.Worker AS Worker, c.ClaimedAt AS StartedAt,
       CONVERT(datetime2(3), NULL) AS EndedAt, CONVERT(int, NULL) AS DurationMs,
       CASE WHEN e.State <> 1 THEN N'lost' -- declared dead; else as ListTasks
            WHEN c.IsPrefetched = 0 AND e.TokenCount > (
              SELECT COUNT(*)
              FROM Taskgate.Claim AS b
              WHERE b.TaskExecutionId = c.TaskExecutionId AND b.IsPrefetched = 0
                AND (b.Fence < c.Fence OR (b.Fence = c.Fence AND b.Ordinal < c.Ordinal))) THEN N'running'
            ELSE N'prefetched' END AS Outcome, CONVERT(nvarchar(4000), NULL) AS Error,
       c.TaskExecutionId AS TaskExecutionId, c.Fence AS Fence
FROM Taskgate.Claim AS c
INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = c.TaskExecutionId
INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = t.TaskDefinitionId
UNION ALL
SELECT a.TaskId, d.Name, a.Kind, COALESCE(CONVERT(nvarchar(max), COALESCE(t.PayloadUtf8, a.PayloadUtf8)) COLLATE Latin1_General_100_BIN2, t.Payload, a.Payload), e.Worker, DATEADD(MILLISECOND, -a.DurationMs, a.FinishedAt), a.FinishedAt,
       a.DurationMs, N'done', NULL, a.TaskExecutionId, a.Fence
FROM Taskgate.Archive AS a
INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = a.TaskDefinitionId
LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = a.TaskExecutionId
LEFT JOIN Taskgate.Task AS t ON t.TaskId = a.TaskId -- its payload's home, unless none was kept, or it ended before rows stayed
WHERE a.Outcome = 10
UNION ALL
SELECT p.TaskId, d.Name, COALESCE(t.Kind, a.Kind), COALESCE(CONVERT(nvarchar(max), COALESCE(t.PayloadUtf8, a.PayloadUtf8)) COLLATE Latin1_General_100_BIN2, t.Payload, a.Payload), e.Worker,
       COALESCE(DATEADD(MILLISECOND, -p.DurationMs, p.FinishedAt), p.ClaimedAt), p.FinishedAt, p.DurationMs,
       CASE p.Outcome WHEN 11 THEN N'failed' WHEN 12 THEN N'cancelled' WHEN 13 THEN N'lost' ELSE N'continued' END,
       COALESCE(CONVERT(nvarchar(4000), p.ErrorUtf8) COLLATE Latin1_General_100_BIN2, p.Error),
       p.TaskExecutionId, p.Fence
FROM Taskgate.Attempt AS p
LEFT JOIN Taskgate.Task AS t ON t.TaskId = p.TaskId
LEFT JOIN Taskgate.Archive AS a ON a.TaskId = p.TaskId
LEFT JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = COALESCE(t.TaskDefinitionId, a.TaskDefinitionId)
LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = p.TaskExecutionId;
