-- Taskgate._EnqueuePlain: the part of EnqueueTasks for entries that say no more than payload, kind, priority and trace, as most do.
-- In:     @TaskDefinitionId int, @Name: the definition; @Build, @Tasks, @Payloads, @OperationId: as of EnqueueTasks; @Now
-- Out:    @oTaskIds: JSON array of the ids as strings, in input order; null: nothing was written. Then an entry says
--         more or something bad, or the operation id was used before; EnqueueTasks has to look at each
-- Raises: 50423, 50425 as _LockKeys
-- Locks:  its operation id, as _LockKeys; new rows. Joins the caller's transaction
-- Isolation: what EnqueueTasks does for such entries; the row of the operation id is read behind the lock on it
-- Plan:   one read of the text and one of each entry, into a list; then a write of Task and one of Ready. An entry's members are rows:
--         their names and types tell an entry that says more, also by a name that is unknown, twice there, or written with an escape
-- Once:   by operation id
-- Twin:   postgres/sql/functions/_enqueue_plain.sql
CREATE OR ALTER PROCEDURE Taskgate._EnqueuePlain
  @TaskDefinitionId int, @Name nvarchar(200), @Build bigint, @Tasks nvarchar(max), @Payloads nvarchar(max), @OperationId uniqueidentifier,
  @Now datetime2(3), @oTaskIds nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vCount int, @vIsUsed bit = 0, @vMissed nvarchar(max);
  DECLARE @vTask TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, Priority smallint NOT NULL,
    TraceParent nvarchar(55) NULL, PayloadUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL, IsPlain bit NOT NULL);
  DECLARE @vNew TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Priority smallint NOT NULL);
  DECLARE @vLock Taskgate.KeyLockList;

  INSERT INTO @vTask (Ord, Kind, Priority, TraceParent, PayloadUtf8, IsPlain)
  SELECT TOP (10001) p.Ord, LEFT(v.Kind COLLATE Latin1_General_100_BIN2, 200), CASE WHEN n.Priority BETWEEN -32768 AND 32767 THEN n.Priority ELSE 100 END,
         LEFT(v.Trace, 55), n.Utf8,
         CASE
           WHEN j.[type] <> 5 OR v.Members <> v.Known OR v.KindType > 1 OR v.PriorityType NOT IN (0, 2) THEN 0
           WHEN DATALENGTH(v.Kind) NOT BETWEEN 2 AND 400 OR DATALENGTH(v.Kind) <> DATALENGTH(LTRIM(RTRIM(v.Kind))) THEN 0
           WHEN v.PriorityType = 2 AND (n.Priority IS NULL OR n.Priority NOT BETWEEN -32768 AND 32767) THEN 0
           WHEN v.Trace NOT LIKE N'__-________________________________-________________-__'
             OR v.Trace COLLATE Latin1_General_100_BIN2 LIKE N'%[^0-9a-f-]%' OR DATALENGTH(REPLACE(v.Trace, N'-', N'')) <> 104 THEN 0
           WHEN p.IsWhole = 0 OR DATALENGTH(n.Utf8) > 65536 OR (@Payloads IS NOT NULL AND v.PayloadType > 0) THEN 0
           WHEN CONVERT(nvarchar(max), n.Utf8) <> p.Payload COLLATE Latin1_General_100_BIN2_UTF8 THEN 0 -- half of a surrogate pair
           ELSE 1 END
  FROM OPENJSON(@Tasks) AS j
  CROSS APPLY (
    SELECT COUNT(*) AS Members,
           MAX(CASE k.Name WHEN N'payload' THEN 1 ELSE 0 END) + MAX(CASE k.Name WHEN N'kind' THEN 1 ELSE 0 END)
             + MAX(CASE k.Name WHEN N'priority' THEN 1 ELSE 0 END) + MAX(CASE k.Name WHEN N'trace' THEN 1 ELSE 0 END) AS Known,
           MAX(CASE k.Name WHEN N'payload' THEN m.[value] END) AS Payload, MAX(CASE k.Name WHEN N'payload' THEN m.[type] END) AS PayloadType,
           MAX(CASE k.Name WHEN N'kind' THEN m.[value] END) AS Kind, MAX(CASE k.Name WHEN N'kind' THEN m.[type] END) AS KindType,
           MAX(CASE k.Name WHEN N'priority' THEN m.[value] END) AS Priority, MAX(CASE k.Name WHEN N'priority' THEN m.[type] END) AS PriorityType,
           MAX(CASE k.Name WHEN N'trace' THEN m.[value] END) AS Trace
    FROM OPENJSON(CASE j.[type] WHEN 5 THEN j.[value] END) AS m
    CROSS APPLY (
      SELECT CASE WHEN DATALENGTH(m.[key]) = DATALENGTH(RTRIM(m.[key])) THEN m.[key] COLLATE Latin1_General_100_BIN2 END AS Name) AS k) AS v
  CROSS APPLY (
    SELECT CONVERT(int, j.[key]) AS Ord, v.Payload AS Payload,
           CASE WHEN v.PayloadType IN (2, 3) THEN 0 ELSE ISJSON(v.Payload) END AS IsWhole -- null: there is none
    WHERE @Payloads IS NULL
    UNION ALL
    SELECT CONVERT(int, o.[key]), o.[value], CASE WHEN o.[type] IN (4, 5) THEN 1 ELSE 0 END
    FROM OPENJSON(@Payloads) AS o) AS p
  CROSS APPLY (
    SELECT TRY_CONVERT(int, v.Priority) AS Priority, CONVERT(varchar(max), p.Payload COLLATE Latin1_General_100_BIN2_UTF8) AS Utf8) AS n;
  SET @vCount = @@ROWCOUNT;
  IF @vCount NOT BETWEEN 1 AND 10000 OR EXISTS (SELECT 1 FROM @vTask AS t WHERE t.IsPlain = 0) RETURN;

  IF @OperationId IS NOT NULL
  BEGIN
    INSERT INTO @vLock (Name) SELECT n.Name FROM Taskgate._KeyLockOf(N'operation', NULL, CONVERT(nvarchar(36), @OperationId)) AS n;
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look: kept to the end
    SELECT @vIsUsed = 1
    FROM Taskgate.Operation AS o -- the writer of that id has the lock on it
    WHERE o.OperationId = @OperationId;
  END;
  IF @vIsUsed = 0
  BEGIN
    INSERT INTO Taskgate.Task WITH (ROWLOCK) (TaskId, TaskDefinitionId, Kind, Priority, CreatedAt, Build, TraceParent, PayloadUtf8)
    OUTPUT inserted.TaskId, inserted.Priority INTO @vNew (TaskId, Priority)
    SELECT NEXT VALUE FOR Taskgate.TaskSequence OVER (ORDER BY t.Ord), @TaskDefinitionId, COALESCE(t.Kind, @Name), t.Priority, @Now, COALESCE(@Build, 0),
           t.TraceParent, t.PayloadUtf8
    FROM @vTask AS t; -- ids in input order
    INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId)
    SELECT @TaskDefinitionId, n.Priority, 0, n.TaskId FROM @vNew AS n;
    SELECT @oTaskIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), n.TaskId) + N'"'), N',') WITHIN GROUP (ORDER BY n.TaskId) + N']'
    FROM @vNew AS n;
    IF @OperationId IS NOT NULL
      INSERT INTO Taskgate.Operation WITH (ROWLOCK) (OperationId, Name, DoneAt, Answer) -- written once, under its lock
      VALUES (@OperationId, N'enqueue_tasks', @Now,
              N'{"target":"' + CONVERT(nvarchar(11), @TaskDefinitionId) + N'","taskIds":"' + STRING_ESCAPE(@oTaskIds, 'json') + N'","outcomes":null,"ready":true,"nextDueMs":null}');
  END;
END;
