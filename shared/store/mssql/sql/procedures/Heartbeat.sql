-- Taskgate.Heartbeat: renews the leases of all executions of one process, and tells what they should know.
-- In:     @Executions: JSON array of 1..1000 {execution, start, started: [task ids]}: prefetched claims started since the last report;
--           start: as @StartId of Work, or left out
-- Out:    Status: done; Executions: JSON array, by execution id and then in their order, of {execution, start: as it was given, status: renewed | fenced | ended | busy (its row
--         was locked by its own call, which renews it), leaseMs, tokens and claims: so many it holds, cancel: [task ids], overLimit, releaseRequested (as of Work; for an
--         execution that was denied only where this one holds several, or one for calls of functions without tasks), paused}
-- Raises: 50422 not such a list, an id that is no number, or a start that is no UUID; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  TaskExecution ascending, by skip; Claim (of those)
-- Isolation: against a reclaim or an acquire of the same execution: the call that locks its row first decides, the other skips.
--         Definitions are read before any row is locked, cancel requests after the commit: nothing is read while rows are held
-- Plan:   primary keys; joins are loops in the written order
-- Once:   naturally
-- Twin:   postgres/sql/functions/heartbeat.sql
CREATE OR ALTER PROCEDURE Taskgate.Heartbeat
  @Executions nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vCount int = 0, @vAnswer nvarchar(max),
          @vMessage nvarchar(2048);
  DECLARE @vBeat TABLE (
    TaskExecutionId bigint NOT NULL, Ord int NOT NULL, StartId uniqueidentifier NULL, HasStarted bit NOT NULL, IsRenewed bit NOT NULL,
    TaskDefinitionId int NULL, -- null: the row is locked, or that of another start
    PRIMARY KEY CLUSTERED (TaskExecutionId, Ord));
  DECLARE @vStarted TABLE (Ord int NOT NULL, TaskId bigint NOT NULL, PRIMARY KEY CLUSTERED (Ord, TaskId));
  DECLARE @vDefinition TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, LeaseMs int NOT NULL, Paused bit NOT NULL, OverLimit int NOT NULL,
    IsWanted bit NOT NULL, -- a token was denied lately
    Kept int NOT NULL); -- tokens that an execution doesn't give for somebody
  DECLARE @vRenewed TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TokenCount int NOT NULL);
  DECLARE @vClaims TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, Claims int NOT NULL, Cancel nvarchar(max) NULL);

  IF Taskgate._JsonKind(@Executions) = N'[' SELECT @vCount = COUNT(*) FROM OPENJSON(@Executions) AS j;
  IF @vCount NOT BETWEEN 1 AND 1000 OR EXISTS (SELECT 1 FROM OPENJSON(@Executions) AS j WHERE j.[type] <> 5)
    THROW 50422, N'executions: expected a JSON array of 1..1000 entries', 1;
  SELECT TOP (1) @vMessage = N'executions[' + CONVERT(nvarchar(11), CONVERT(int, j.[key])) + N'].'
           + CASE WHEN b.IsId = 0 THEN N'execution: expected an id (' WHEN b.IsStart = 0 THEN N'start: expected a UUID ('
                  ELSE N'started: expected ids (' END
           + REPLACE(LEFT(CASE WHEN b.IsId = 0 THEN v.Execution WHEN b.IsStart = 0 THEN v.Start ELSE b.Started END, 100), N'%', N'%%') + N')'
  FROM OPENJSON(@Executions) AS j
  CROSS APPLY OPENJSON(j.[value]) WITH (
    Execution nvarchar(max) N'$.execution', Start nvarchar(max) N'$.start', Started nvarchar(max) N'$.started' AS JSON) AS v
  CROSS APPLY (
    SELECT CASE WHEN DATALENGTH(v.Execution) = 0 OR TRY_CONVERT(bigint, v.Execution) IS NULL AND v.Execution IS NOT NULL THEN 0 ELSE 1 END AS IsId,
           CASE WHEN TRY_CONVERT(uniqueidentifier, v.Start) IS NULL AND v.Start IS NOT NULL THEN 0 ELSE 1 END AS IsStart,
           (SELECT TOP (1) s.[value] FROM OPENJSON(v.Started) AS s
            WHERE DATALENGTH(s.[value]) = 0 OR TRY_CONVERT(bigint, s.[value]) IS NULL AND s.[value] IS NOT NULL -- an empty text would be 0
            ORDER BY CONVERT(int, s.[key])) AS Started) AS b
  WHERE b.IsId = 0 OR b.IsStart = 0 OR b.Started IS NOT NULL
  ORDER BY CONVERT(int, j.[key]);
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  INSERT INTO @vStarted (Ord, TaskId)
  SELECT DISTINCT CONVERT(int, j.[key]), CONVERT(bigint, s.[value])
  FROM OPENJSON(@Executions) AS j
  CROSS APPLY OPENJSON(j.[value]) WITH (Started nvarchar(max) N'$.started' AS JSON) AS v
  CROSS APPLY OPENJSON(v.Started) AS s
  WHERE s.[value] IS NOT NULL;
  INSERT INTO @vBeat (TaskExecutionId, Ord, StartId, HasStarted, IsRenewed)
  SELECT v.Execution, CONVERT(int, j.[key]), TRY_CONVERT(uniqueidentifier, v.Start),
         CASE WHEN EXISTS (SELECT 1 FROM @vStarted AS s WHERE s.Ord = CONVERT(int, j.[key])) THEN 1 ELSE 0 END, 0
  FROM OPENJSON(@Executions) AS j
  CROSS APPLY OPENJSON(j.[value]) WITH (Execution bigint N'$.execution', Start nvarchar(max) N'$.start') AS v
  WHERE v.Execution IS NOT NULL
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per execution

  BEGIN TRY
    UPDATE b
    SET TaskDefinitionId = e.TaskDefinitionId
    FROM @vBeat AS b
    INNER JOIN Taskgate.TaskExecution AS e WITH (READCOMMITTEDLOCK, READPAST) -- steps over locked rows: they are busy
      ON e.TaskExecutionId = b.TaskExecutionId AND (b.StartId IS NULL OR e.OperationId = b.StartId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
    INSERT INTO @vDefinition (TaskDefinitionId, LeaseMs, Paused, OverLimit, IsWanted, Kept)
    SELECT d.TaskDefinitionId, d.LeaseMs, d.Paused, Taskgate._OverLimit(d.TaskDefinitionId),
           CASE WHEN EXISTS (SELECT 1 FROM Taskgate._OpenDemand(d.TaskDefinitionId, d.LeaseMs, @vNow) AS q)
             OR EXISTS (SELECT 1 FROM Taskgate._SharedDemand(d.TaskDefinitionId, d.LeaseMs, @vNow) AS q WHERE q.OpenSince IS NOT NULL)
             THEN 1 ELSE 0 END,
           CASE WHEN LEFT(d.Name, 6) = N'calls:' THEN 0 ELSE 1 END
    FROM (SELECT DISTINCT b.TaskDefinitionId FROM @vBeat AS b WHERE b.TaskDefinitionId IS NOT NULL) AS x
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN, USE HINT ('DISABLE_TSQL_SCALAR_UDF_INLINING')); -- one seek per definition; _OverLimit's joins stay its own

    BEGIN TRANSACTION;
    UPDATE e
    SET LeaseUntil = CASE WHEN e.LeaseUntil > DATEADD(MILLISECOND, d.LeaseMs, @vNow) THEN e.LeaseUntil
                          ELSE DATEADD(MILLISECOND, d.LeaseMs, @vNow) END
    OUTPUT inserted.TaskExecutionId, inserted.TokenCount INTO @vRenewed (TaskExecutionId, TokenCount)
    FROM @vBeat AS b
    INNER JOIN @vDefinition AS d ON d.TaskDefinitionId = b.TaskDefinitionId
    INNER JOIN Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait; state tested under the lock
      ON e.TaskExecutionId = b.TaskExecutionId
    WHERE e.State = 1
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution, ascending
    IF EXISTS (SELECT 1 FROM @vStarted AS s)
      UPDATE c
      SET IsPrefetched = 0
      FROM @vBeat AS b
      INNER JOIN @vRenewed AS r ON r.TaskExecutionId = b.TaskExecutionId
      INNER JOIN Taskgate.Claim AS c WITH (ROWLOCK, UPDLOCK, INDEX (PK_Claim)) -- own claims only: by task it could be another's
        ON c.TaskExecutionId = r.TaskExecutionId
      WHERE b.HasStarted = 1 AND b.TaskDefinitionId IS NOT NULL AND c.IsPrefetched = 1
        AND EXISTS (SELECT 1 FROM @vStarted AS s WHERE s.Ord = b.Ord AND s.TaskId = c.TaskId)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per execution
    COMMIT TRANSACTION;

    UPDATE b
    SET IsRenewed = 1
    FROM @vBeat AS b
    WHERE b.TaskDefinitionId IS NOT NULL AND b.TaskExecutionId IN (SELECT r.TaskExecutionId FROM @vRenewed AS r)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per execution
    INSERT INTO @vClaims (TaskExecutionId, Claims, Cancel)
    SELECT r.TaskExecutionId, COUNT(*),
           STRING_AGG(CASE t.CancelRequested WHEN 1 THEN CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), t.TaskId) + N'"') END, N',')
             WITHIN GROUP (ORDER BY t.TaskId)
    FROM @vRenewed AS r
    INNER JOIN Taskgate.Claim AS c WITH (INDEX (PK_Claim)) ON c.TaskExecutionId = r.TaskExecutionId -- the execution's range
    INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
    GROUP BY r.TaskExecutionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per execution, one seek per task
    SELECT @vAnswer = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"execution":"' + CONVERT(nvarchar(20), b.TaskExecutionId) + N'"')
             + COALESCE(N',"start":"' + LOWER(CONVERT(nvarchar(36), b.StartId)) + N'"', N'')
             + CASE WHEN b.IsRenewed = 1
                 THEN N',"status":"renewed","leaseMs":' + CONVERT(nvarchar(11), d.LeaseMs)
                   + N',"tokens":' + CONVERT(nvarchar(11), r.TokenCount) + N',"claims":' + CONVERT(nvarchar(11), COALESCE(x.Claims, 0))
                   + N',"paused":' + CASE d.Paused WHEN 1 THEN N'true' ELSE N'false' END
                   + N',"overLimit":' + CONVERT(nvarchar(11), d.OverLimit) + N',"releaseRequested":'
                   + CASE WHEN d.OverLimit = 0 AND d.IsWanted = 1 AND r.TokenCount > d.Kept THEN N'true' ELSE N'false' END
                   + N',"cancel":[' + COALESCE(x.Cancel, N'') + N']}'
                 ELSE N',"status":"' + CASE e.State WHEN 1 THEN N'busy' WHEN 2 THEN N'ended' ELSE N'fenced' END + N'"}' END, N',')
             WITHIN GROUP (ORDER BY b.TaskExecutionId, b.Ord) + N']'
    FROM @vBeat AS b
    LEFT JOIN @vDefinition AS d ON d.TaskDefinitionId = b.TaskDefinitionId
    LEFT JOIN @vRenewed AS r ON r.TaskExecutionId = b.TaskExecutionId
    LEFT JOIN @vClaims AS x ON x.TaskExecutionId = b.TaskExecutionId
    LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = b.TaskExecutionId AND b.IsRenewed = 0
      AND (b.StartId IS NULL OR e.OperationId = b.StartId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution that wasn't renewed
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT N'done' AS [Status], COALESCE(@vAnswer, N'[]') AS [Executions];
END;
