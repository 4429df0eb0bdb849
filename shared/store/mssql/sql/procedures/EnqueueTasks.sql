-- Taskgate.EnqueueTasks: adds tasks. Joins the caller's transaction: they exist when it commits, or not at all.
-- In:     @Name: the definition; @Build bigint: of the enqueuing code, 0 unknown
--         @Tasks: JSON array of 1..10000, at most 8 MiB of UTF-8, of {payload: JSON text of an object or array, at most 65536
--           bytes, or null; kind 1..200 characters, default the definition's name; priority -32768..32767, lower first, default
--           100; group 1..200 characters, groupScope: definition (default) | global; runInMs 0..3153600000000 or runAt ISO-8601 with its zone;
--           dedupeKey 1..200 characters, dedupeMs: the key is held that long, default until the task ends; onDuplicate: keep (default) |
--           replace: a task of the same kind that hasn't been started gets this payload; trace: W3C traceparent}
--           What an entry doesn't say, the code of its kind may: _ApplyKinds. A kind whose group is a function needs `group`: a key, or null for none
--         @OperationId uniqueidentifier: a repeat with it answers the first call's ids; null: only dedupe keys protect
--         @JoinsTransaction bit: 1 when other work of the caller may follow before its commit: then grouped tasks enter Scheduled
--           as due now, so that no group stays locked for as long as the caller likes. Default 0: inside an open transaction,
--           which the server sees by itself, it counts as 1
--         @WaveId bigint: they are blocked until this wave of a batch opens, or null; runInMs and runAt are refused then;
--           @ChangedBy: the operator, for the audit; null: the app itself, which leaves no entry there; @Reason: why, for that entry
--         @IsChecked bit: 1: the caller wrote no member that isn't named above, as the package does; else one is looked for, and refused
--         @Payloads: JSON array of 1..10000 payloads, objects or arrays as they are, within the 8 MiB: a task each, with what the one entry of @Tasks, without a payload, says of all; null: @Tasks says all
-- Out:    Status: enqueued | sealed | late (the wave takes no tasks, as it is sealed, or any more: nothing was written); TaskIds: JSON array of strings in input order (of a duplicate: the first task's);
--         Outcomes: JSON array of enqueued | duplicate | replaced in input order, or null when all are enqueued
--         Ready: some may be claimed at once; NextDueMs bigint: the earliest scheduled of them, or null
-- Raises: 50404 unknown definition or wave; 50409 the operation id was used by another operation, or for another definition; 50413 too many or too large;
--         50422 a bad value, naming entry and field; 50424 `group` or `dedupeKey` is missing, or another than the payload's; 50423 an equal key or operation id is locked for longer than 2 s; 1222 a row is;
--         50425, 1205 chosen to end a circle of waiters. An error dooms the caller's transaction
-- Locks:  as _LockKeys: its operation id, dedupe keys, groups to be made; the wave's gate shared (WaveShard 16); Dedupe, read behind
--         the end of the key's task, expired keys and new ones; TaskGroup ascending: tasks of one that a purge removes just then
--         become due, and promotion makes it again; new rows; then as _ReplacePayloads, _AuditCall. When joining a caller's transaction no group
--         and no lock of one
-- Isolation: equal operation ids, dedupe keys and new group keys exclude each other by locks on just these keys, kept to the end;
--         the rows of these keys are read in later statements. No gap of an index is locked: it would also stop other keys and the
--         completions of their tasks. Two transactions that take the same keys in several calls, in opposite order, wait for each
--         other (50425, 1205): prefer one call with many tasks. The call that opens a wave wants its gate alone and skips a taken one:
--         no call waits for those that share it
-- Plan:   primary keys and unique names; the texts of @Tasks and @Payloads are looked over by ISJSON and read once by _EnqueuePlain, which takes most calls; else once more for their entries, and @Tasks where its members' names aren't checked. As many
--         statements for one task as for 10000, but for one lock per key that may not exist yet, and one for each 1000 groups.
--         Joins are loops in the written order: the plan of the first call, whatever its size, serves all
-- Once:   by operation id, and by dedupe key
-- Twin:   postgres/sql/functions/enqueue_tasks.sql, _enqueue_grouped.sql
CREATE OR ALTER PROCEDURE Taskgate.EnqueueTasks
  @Name nvarchar(max), @Build bigint, @Tasks nvarchar(max), @OperationId uniqueidentifier = NULL, @JoinsTransaction bit = 0,
  @WaveId bigint = NULL, @ChangedBy nvarchar(max) = NULL, @Reason nvarchar(max) = NULL, @IsChecked bit = 0, @Payloads nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET LOCK_TIMEOUT 2000;
  DECLARE @vStart int;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2
    SELECT @vStart = n.N FROM Taskgate.Number AS n WHERE n.N = 1; -- starts the caller's transaction as the caller has set it: at SNAPSHOT, or by IMPLICIT_TRANSACTIONS
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vIsOwn bit = CASE WHEN @@TRANCOUNT = 0 THEN 1 ELSE 0 END,
          @vJoins bit = CASE WHEN @@TRANCOUNT > 0 OR @JoinsTransaction = 1 THEN 1 ELSE 0 END, @vMessage nvarchar(2048),
          @vNumber int, @vBytes bigint, @vCount int, @vName nvarchar(200), @vDefinition int, @vTarget nvarchar(11), @vGroupSlots smallint, @vGroupStrict bit, @vHasKinds bit,
          @vIsRepeat bit = 0, @vOperation nvarchar(200), @vAnswer nvarchar(max), @vHasGroups bit = 0, @vHasKeys bit = 0, @vHasTimes bit = 0, @vReplaces bit = 0,
          @vFrom int, @vTakes bit, @vStatus nvarchar(20) = N'enqueued', @vKinds nvarchar(max), @vChanged nvarchar(max), @vActor nvarchar(max) = @ChangedBy, @vBegin nvarchar(4000);
  DECLARE @vTaskIds nvarchar(max), @vOutcomes nvarchar(max), @vReplaced nvarchar(max), @vMissed nvarchar(max), @vReady bit = 0, @vNextDueMs bigint;
  DECLARE @vTask TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NULL, Payload nvarchar(max) NULL,
    Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, Priority smallint NULL,
    GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, Scope int NOT NULL, RunAt datetime2(3) NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, DedupeMs bigint NULL, TraceParent nvarchar(55) NULL, IsReplacing bit NOT NULL,
    Unreadable nvarchar(400) NULL, Problem nvarchar(1000) NULL, IsNew bit NOT NULL, GroupId int NULL,
    Place tinyint NOT NULL, Slot smallint NULL); -- place 1 ready, 2 ready with a slot, 3 waiting, 4 scheduled, 5 blocked
  DECLARE @vId TABLE (Ord int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NOT NULL);
  DECLARE @vKey TABLE (
    K int NOT NULL PRIMARY KEY CLUSTERED, DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL UNIQUE,
    Ord int NOT NULL, TaskId bigint NULL, ExpiresAt datetime2(3) NULL, OwnerId bigint NULL, IsExpired bit NOT NULL);
  DECLARE @vGroup TABLE (
    K int NOT NULL PRIMARY KEY CLUSTERED, Scope int NOT NULL, GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    GroupId int NULL, IsNeeded bit NOT NULL, Strict bit NOT NULL, UNIQUE (Scope, GroupKey));
  DECLARE @vReplacement Taskgate.ReplacementList;
  DECLARE @vCarrier TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED); -- tasks that carry a replacement
  DECLARE @vLock Taskgate.KeyLockList;
  DECLARE @vWanted TABLE (K int NOT NULL PRIMARY KEY CLUSTERED, GroupId int NOT NULL);
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED, Slots smallint NULL, Free int NULL);
  DECLARE @vSlot TABLE (GroupId int NOT NULL, K int NOT NULL, Slot smallint NOT NULL, PRIMARY KEY CLUSTERED (GroupId, K));

  -- 1. The call as a whole.
  IF DATALENGTH(@Tasks) + COALESCE(DATALENGTH(@Payloads), 0) > 5592405 -- UTF-8 has at most three bytes for two of UTF-16: shorter texts aren't converted
    SET @vBytes = DATALENGTH(CONVERT(varchar(max), @Tasks COLLATE Latin1_General_100_BIN2_UTF8)) + COALESCE(DATALENGTH(CONVERT(varchar(max), @Payloads COLLATE Latin1_General_100_BIN2_UTF8)), 0);
  IF @vBytes > 8388608 SET @vMessage = N'tasks: expected at most 8388608 bytes (' + CONVERT(nvarchar(20), @vBytes) + N')';
  IF @vMessage IS NOT NULL THROW 50413, @vMessage, 1;
  IF @ChangedBy IS NOT NULL OR @Reason IS NOT NULL EXEC Taskgate._CheckActor @ChangedBy = @vActor OUTPUT, @Reason = @Reason; -- null stays: no entry
  IF COALESCE(ISJSON(@Tasks), 0) = 0 OR CHARINDEX(N'[', @Tasks COLLATE Latin1_General_100_BIN2) = 0
    OR CHARINDEX(N'{', LEFT(@Tasks, CHARINDEX(N'[', @Tasks COLLATE Latin1_General_100_BIN2)) COLLATE Latin1_General_100_BIN2) > 0 -- as _JsonKind
    SET @vMessage = N'tasks: expected a JSON array (' + COALESCE(REPLACE(LEFT(@Tasks, 100), N'%', N'%%'), N'<NULL>') + N')';
  ELSE IF ISJSON(@Payloads) = 0 OR CHARINDEX(N'[', @Payloads COLLATE Latin1_General_100_BIN2) = 0 OR CHARINDEX(N'{', LEFT(@Payloads, CHARINDEX(N'[', @Payloads COLLATE Latin1_General_100_BIN2)) COLLATE Latin1_General_100_BIN2) > 0
    SET @vMessage = N'payloads: expected a JSON array (' + REPLACE(LEFT(@Payloads, 100), N'%', N'%%') + N')';
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  -- A name that is too long or ends in blanks matches no row; a comparison would truncate it.
  IF DATALENGTH(@Name) <= 400 AND DATALENGTH(@Name) = DATALENGTH(RTRIM(@Name)) SET @vName = @Name;
  SELECT @vDefinition = d.TaskDefinitionId, @vTarget = CONVERT(nvarchar(11), d.TaskDefinitionId), @vGroupSlots = d.GroupSlots, @vGroupStrict = d.GroupStrict,
         @vHasKinds = CASE WHEN EXISTS (SELECT 1 FROM Taskgate.TaskKind AS k WITH (FORCESEEK) WHERE k.TaskDefinitionId = d.TaskDefinitionId) THEN 1 ELSE 0 END -- one probe
  FROM Taskgate.TaskDefinition AS d
  WHERE d.Name = @vName;

  -- A repeat of a call that is committed was found sound the first time; the kinds' rules may have changed since.
  IF @OperationId IS NOT NULL AND @vDefinition IS NOT NULL
    SELECT @vIsRepeat = 1, @vAnswer = o.Answer
    FROM Taskgate.Operation AS o WITH (READCOMMITTEDLOCK, READPAST) -- versions or not, no wait: one that isn't committed is looked at below
    WHERE o.OperationId = @OperationId AND o.Name = N'enqueue_tasks';
  IF @vIsRepeat = 1
  BEGIN
    EXEC Taskgate._CheckRepeat @OperationId = @OperationId, @Operation = N'enqueue_tasks', @Target = @vTarget, @UsedBy = N'enqueue_tasks', @Answer = @vAnswer;
    SELECT N'enqueued' AS [Status], a.TaskIds AS [TaskIds], a.Outcomes AS [Outcomes], a.Ready AS [Ready], a.NextDueMs AS [NextDueMs]
    FROM OPENJSON(@vAnswer) WITH (TaskIds nvarchar(max) N'$.taskIds', Outcomes nvarchar(max) N'$.outcomes', Ready bit N'$.ready', NextDueMs bigint N'$.nextDueMs') AS a;
    RETURN;
  END;

  BEGIN TRY
    IF @Payloads IS NOT NULL
      SELECT @vMessage = CASE COUNT(*) WHEN 1 THEN NULL ELSE N'tasks: expected one entry beside payloads (' + CONVERT(nvarchar(11), COUNT(*)) + N')' END FROM OPENJSON(@Tasks) AS j;
    IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
    -- Entries that say no more than payload, kind, priority and trace. Where the first ones say more, most do.
    SET @vBegin = LEFT(@Tasks COLLATE Latin1_General_100_BIN2, 4000);
    IF @vHasKinds = 0 AND @WaveId IS NULL AND @ChangedBy IS NULL
      AND CHARINDEX(N'"group"', @vBegin) + CHARINDEX(N'"dedupeKey"', @vBegin) + CHARINDEX(N'"runInMs"', @vBegin) + CHARINDEX(N'"runAt"', @vBegin) = 0
    BEGIN
      IF @vIsOwn = 1 BEGIN TRANSACTION;
      EXEC Taskgate._EnqueuePlain @TaskDefinitionId = @vDefinition, @Name = @vName, @Build = @Build, @Tasks = @Tasks, @Payloads = @Payloads,
        @OperationId = @OperationId, @Now = @vNow, @oTaskIds = @vTaskIds OUTPUT;
      IF @vIsOwn = 1 COMMIT TRANSACTION; -- of nothing, where the long way follows
    END;
    IF @vTaskIds IS NOT NULL
    BEGIN
      SELECT @vStatus AS [Status], @vTaskIds AS [TaskIds], @vOutcomes AS [Outcomes], CONVERT(bit, 1) AS [Ready], @vNextDueMs AS [NextDueMs];
      RETURN;
    END;

    -- 2. The entries, with the first problem found; those that can't even be read come first. Nothing is locked yet.
    INSERT INTO @vTask (
      Ord, Payload, Kind, Priority, GroupKey, Scope, RunAt, DedupeKey, DedupeMs, TraceParent, IsReplacing, Unreadable, Problem, IsNew,
      Place)
    SELECT TOP (10001) e.Ord, e.Payload, COALESCE(e.Kind, @vName), e.Priority, e.GroupKey,
           CASE e.IsGlobal WHEN 1 THEN 0 ELSE COALESCE(@vDefinition, -1) END, e.RunAt, e.DedupeKey, e.DedupeMs, e.TraceParent, e.IsReplacing,
           e.Unreadable, e.Problem, 1, 1
    FROM Taskgate._ReadTasks(@Tasks, @Payloads, @WaveId, @vNow) AS e;
    SET @vCount = @@ROWCOUNT;
    IF @vCount NOT BETWEEN 1 AND 10000
      SELECT @vMessage = N'tasks: expected 1..10000 entries (' + CONVERT(nvarchar(11), COUNT(*)) + N')' FROM OPENJSON(COALESCE(@Payloads, @Tasks)) AS j;
    IF @vMessage IS NOT NULL THROW 50413, @vMessage, 1;
    IF @vDefinition IS NULL
      SET @vMessage = N'name: unknown definition (' + COALESCE(REPLACE(LEFT(@Name, 900), N'%', N'%%'), N'<NULL>') + N')';
    IF @vMessage IS NOT NULL THROW 50404, @vMessage, 1;
    IF @IsChecked = 0
      SELECT TOP (1) @vMessage = N'tasks[' + j.[key] + N']: expected no members but payload, kind, priority, group, groupScope, runInMs, runAt, dedupeKey, dedupeMs, onDuplicate and trace ('
               + REPLACE(LEFT(m.[key], 100), N'%', N'%%') + N')'
      FROM OPENJSON(@Tasks) AS j
      CROSS APPLY OPENJSON(CASE j.[type] WHEN 5 THEN j.[value] END) AS m
      WHERE m.[key] COLLATE Latin1_General_100_BIN2 NOT IN (N'payload', N'kind', N'priority', N'group', N'groupScope', N'runInMs', N'runAt', N'dedupeKey', N'dedupeMs', N'onDuplicate', N'trace')
        OR DATALENGTH(m.[key]) <> DATALENGTH(RTRIM(m.[key])) -- a comparison takes no notice of blanks at the end
      ORDER BY CONVERT(int, j.[key]), m.[key] COLLATE Latin1_General_100_BIN2;
    IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
    SELECT TOP (1) @vMessage = CASE DATALENGTH(t.Unreadable)
             WHEN 0 THEN N'tasks: expected a JSON array of objects (' + REPLACE(LEFT(@Tasks, 100), N'%', N'%%') + N')'
             ELSE N'tasks[' + CONVERT(nvarchar(11), t.Ord) + N'].' + REPLACE(t.Unreadable, N'%', N'%%') END
    FROM @vTask AS t WHERE t.Unreadable IS NOT NULL
    ORDER BY CASE DATALENGTH(t.Unreadable) WHEN 0 THEN 1 ELSE 0 END, t.Ord;
    IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
    SELECT TOP (1) @vMessage = N'tasks[' + CONVERT(nvarchar(11), t.Ord) + N'].' + REPLACE(t.Problem, N'%', N'%%'), @vNumber = CASE WHEN t.Problem LIKE N'payload: expected at most%' THEN 50413 ELSE 50422 END
    FROM @vTask AS t WHERE t.Problem IS NOT NULL ORDER BY t.Ord;
    IF @vMessage IS NOT NULL THROW @vNumber, @vMessage, 1;
    IF @vHasKinds = 1
    BEGIN
      EXEC Taskgate._ApplyKinds @TaskDefinitionId = @vDefinition, @Name = @vName, @Build = @Build, @Tasks = @Tasks, @Payloads = @Payloads, @WaveId = @WaveId, @Now = @vNow, @oEntries = @vKinds OUTPUT;
      UPDATE t SET GroupKey = COALESCE(t.GroupKey, s.GroupKey COLLATE Latin1_General_100_BIN2),
          DedupeKey = COALESCE(t.DedupeKey, s.DedupeKey COLLATE Latin1_General_100_BIN2), DedupeMs = COALESCE(s.DedupeMs, t.DedupeMs),
          Priority = COALESCE(s.Priority, t.Priority), RunAt = COALESCE(s.RunAt, t.RunAt) -- what the caller said isn't among them
      FROM OPENJSON(@vKinds) WITH (Ord int N'$.o', GroupKey nvarchar(200) N'$.group', DedupeKey nvarchar(200) N'$.dedupeKey',
        DedupeMs bigint N'$.dedupeMs', Priority smallint N'$.priority', RunAt datetime2(3) N'$.runAt') AS s
      INNER JOIN @vTask AS t ON t.Ord = s.Ord
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    END;
    SELECT @vHasKeys = COALESCE(MAX(CASE WHEN t.DedupeKey IS NOT NULL THEN 1 END), 0), @vHasGroups = COALESCE(MAX(CASE WHEN t.GroupKey IS NOT NULL AND t.RunAt IS NULL THEN 1 END), 0),
           @vHasTimes = COALESCE(MAX(CASE WHEN t.RunAt IS NOT NULL THEN 1 END), 0)
    FROM @vTask AS t;
    IF @vJoins = 1 AND @vHasGroups = 1 AND @WaveId IS NULL
    BEGIN
      UPDATE t SET RunAt = @vNow FROM @vTask AS t WHERE t.GroupKey IS NOT NULL AND t.RunAt IS NULL;
      SELECT @vHasTimes = 1, @vHasGroups = 0;
    END;
    -- Scheduled ones join their groups when they are promoted, those of a wave when they are admitted.
    IF @WaveId IS NOT NULL OR @vHasTimes = 1
      UPDATE t SET Place = CASE WHEN @WaveId IS NULL THEN 4 ELSE 5 END FROM @vTask AS t WHERE @WaveId IS NOT NULL OR t.RunAt IS NOT NULL;
    IF @WaveId IS NOT NULL SET @vHasGroups = 0;

    -- 3. Locks against calls that may be making the same keys, groups or operation at this moment.
    IF @vHasKeys = 1
      INSERT INTO @vKey (K, DedupeKey, Ord, ExpiresAt, IsExpired)
      SELECT ROW_NUMBER() OVER (ORDER BY f.DedupeKey), f.DedupeKey, f.Ord,
             DATEADD(MILLISECOND, CONVERT(int, f.DedupeMs % 86400000), DATEADD(DAY, CONVERT(int, f.DedupeMs / 86400000), @vNow)), 0
      FROM (
        SELECT t.DedupeKey, t.Ord, t.DedupeMs, ROW_NUMBER() OVER (PARTITION BY t.DedupeKey ORDER BY t.Ord) AS K
        FROM @vTask AS t WHERE t.DedupeKey IS NOT NULL) AS f
      WHERE f.K = 1;
    IF @vHasGroups = 1
    BEGIN
      INSERT INTO @vGroup (K, Scope, GroupKey, IsNeeded, Strict)
      SELECT ROW_NUMBER() OVER (ORDER BY f.Scope, f.GroupKey), f.Scope, f.GroupKey, 0, @vGroupStrict
      FROM (SELECT DISTINCT t.Scope, t.GroupKey FROM @vTask AS t WHERE t.GroupKey IS NOT NULL AND t.Place = 1) AS f;
      UPDATE v SET GroupId = g.GroupId, Strict = g.Strict
      FROM @vGroup AS v
      INNER JOIN Taskgate.TaskGroup AS g ON g.TaskDefinitionId = v.Scope AND g.GroupKey = v.GroupKey
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
      -- A strict group's task doesn't overtake one that is due and not promoted yet: it is due now, too. Nothing is locked so far.
      IF EXISTS (SELECT 1 FROM @vGroup AS v WHERE v.Strict = 1)
        IF (SELECT TOP (1) s.TaskId FROM Taskgate.Scheduled AS s WITH (FORCESEEK) WHERE s.TaskDefinitionId = @vDefinition AND s.RunAt <= @vNow
            ORDER BY s.RunAt DESC) IS NOT NULL -- the last one that is due: at the first ones promotions leave deleted entries
        BEGIN
          UPDATE t SET RunAt = @vNow, Place = 4
          FROM @vTask AS t INNER JOIN @vGroup AS v ON v.Scope = t.Scope AND v.GroupKey = t.GroupKey WHERE t.Place = 1 AND v.Strict = 1
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
          DELETE v FROM @vGroup AS v WHERE v.Strict = 1;
        END;
    END;
    INSERT INTO @vLock (Name)
    SELECT n.Name FROM Taskgate._KeyLockOf(N'operation', NULL, CONVERT(nvarchar(36), @OperationId)) AS n WHERE @OperationId IS NOT NULL
    UNION ALL SELECT n.Name FROM @vKey AS k CROSS APPLY Taskgate._KeyLockOf(N'dedupe', @vDefinition, k.DedupeKey) AS n
    UNION ALL SELECT n.Name FROM @vGroup AS v CROSS APPLY Taskgate._KeyLockOf(N'group', v.Scope, v.GroupKey) AS n WHERE v.GroupId IS NULL
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one call per key
    SET @vCount = @@ROWCOUNT;

    IF @vIsOwn = 1 BEGIN TRANSACTION;
    IF @vCount > 0 EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look: kept to the end
    IF @OperationId IS NOT NULL
    BEGIN
      SELECT @vIsRepeat = 1, @vOperation = o.Name, @vAnswer = o.Answer
      FROM Taskgate.Operation AS o -- the writer of that id has the lock on it
      WHERE o.OperationId = @OperationId;
      IF @vIsRepeat = 1
      BEGIN
        EXEC Taskgate._CheckRepeat @OperationId = @OperationId, @Operation = N'enqueue_tasks', @Target = @vTarget, @UsedBy = @vOperation, @Answer = @vAnswer;
        SELECT @vTaskIds = a.TaskIds, @vOutcomes = a.Outcomes, @vReady = a.Ready, @vNextDueMs = a.NextDueMs
        FROM OPENJSON(@vAnswer) WITH (TaskIds nvarchar(max) N'$.taskIds', Outcomes nvarchar(max) N'$.outcomes', Ready bit N'$.ready', NextDueMs bigint N'$.nextDueMs') AS a;
      END;
    END;
    IF @WaveId IS NOT NULL AND @vIsRepeat = 0
    BEGIN
      EXEC Taskgate._EnterWave @WaveId = @WaveId, @oTakes = @vTakes OUTPUT;
      IF @vTakes = 0 -- it wasn't opened, or it is later than that
        SELECT @vStatus = CASE WHEN w.State = 0 AND w.IsSealed = 1 THEN N'sealed' ELSE N'late' END, @vTaskIds = N'[]' FROM Taskgate.Wave AS w WHERE w.WaveId = @WaveId;
    END;

    IF @vIsRepeat = 0 AND @vStatus = N'enqueued'
    BEGIN
      INSERT INTO @vId (Ord, TaskId)
      SELECT t.Ord, NEXT VALUE FOR Taskgate.TaskSequence OVER (ORDER BY t.Ord) FROM @vTask AS t; -- ids in input order
      UPDATE t SET TaskId = i.TaskId FROM @vTask AS t INNER JOIN @vId AS i ON i.Ord = t.Ord
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      -- 4. Keys: expired ones go, new ones are taken; who finds a key taken is a duplicate.
      IF @vHasKeys = 1
      BEGIN
        UPDATE k SET TaskId = i.TaskId FROM @vKey AS k INNER JOIN @vId AS i ON i.Ord = k.Ord
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
        UPDATE k SET OwnerId = CASE WHEN d.ExpiresAt < @vNow THEN NULL ELSE d.TaskId END,
            IsExpired = CASE WHEN d.ExpiresAt < @vNow THEN 1 ELSE 0 END
        FROM @vKey AS k
        INNER JOIN Taskgate.Dedupe AS d WITH (READCOMMITTEDLOCK) -- behind the end of the key's task, then keeps nothing
          ON d.TaskDefinitionId = @vDefinition AND d.DedupeKey = k.DedupeKey
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
        DELETE d
        FROM @vKey AS k
        INNER JOIN Taskgate.Dedupe AS d WITH (ROWLOCK, UPDLOCK) -- no other call writes a key with a window
          ON d.TaskDefinitionId = @vDefinition AND d.DedupeKey = k.DedupeKey
        WHERE k.IsExpired = 1
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
        INSERT INTO Taskgate.Dedupe WITH (ROWLOCK) (TaskDefinitionId, DedupeKey, TaskId, ExpiresAt)
        SELECT @vDefinition, k.DedupeKey, k.TaskId, k.ExpiresAt
        FROM @vKey AS k WHERE k.OwnerId IS NULL;
        UPDATE t SET TaskId = COALESCE(k.OwnerId, k.TaskId), IsNew = CASE WHEN k.OwnerId IS NULL AND k.TaskId = t.TaskId THEN 1 ELSE 0 END
        FROM @vTask AS t INNER JOIN @vKey AS k ON k.DedupeKey = t.DedupeKey
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
        INSERT INTO @vReplacement (TaskId, Kind, TraceParent, Payload)
        SELECT k.OwnerId, t.Kind, t.TraceParent, t.Payload
        FROM @vKey AS k INNER JOIN @vTask AS t ON t.Ord = k.Ord
        WHERE k.OwnerId IS NOT NULL AND t.IsReplacing = 1
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
        IF @@ROWCOUNT > 0 SET @vReplaces = 1;
      END;

      -- 5. Groups: made where they are missing, locked ascending, looked at, filled. Inside a user's transaction none of that:
      -- their tasks are scheduled, and promotion does it.
      IF @vHasGroups = 1
      BEGIN
        IF EXISTS (SELECT 1 FROM @vGroup AS v WHERE v.GroupId IS NULL)
        BEGIN
          UPDATE v SET IsNeeded = 1
          FROM (SELECT DISTINCT t.Scope, t.GroupKey FROM @vTask AS t WHERE t.IsNew = 1 AND t.Place = 1) AS f
          INNER JOIN @vGroup AS v ON v.Scope = f.Scope AND v.GroupKey = f.GroupKey
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
          SELECT @vCount = MAX(v.K) FROM @vGroup AS v;
          SET @vFrom = 1;
          WHILE @vFrom <= @vCount
          BEGIN
            INSERT INTO Taskgate.TaskGroup WITH (ROWLOCK) (TaskDefinitionId, GroupKey, Slots, Strict)
            SELECT v.Scope, v.GroupKey, @vGroupSlots, @vGroupStrict
            FROM @vGroup AS v
            WHERE v.K BETWEEN @vFrom AND @vFrom + 999 AND v.GroupId IS NULL AND v.IsNeeded = 1
              AND NOT EXISTS (
                SELECT 1 FROM Taskgate.TaskGroup AS g WHERE g.TaskDefinitionId = v.Scope AND g.GroupKey = v.GroupKey)
            OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per group
            SET @vFrom = @vFrom + 1000;
          END;
          UPDATE v SET GroupId = g.GroupId
          FROM @vGroup AS v
          INNER JOIN Taskgate.TaskGroup AS g ON g.TaskDefinitionId = v.Scope AND g.GroupKey = v.GroupKey
          WHERE v.GroupId IS NULL
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
        END;
        UPDATE t SET GroupId = v.GroupId
        FROM @vTask AS t INNER JOIN @vGroup AS v ON v.Scope = t.Scope AND v.GroupKey = t.GroupKey
        WHERE t.IsNew = 1 AND t.Place = 1
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
        INSERT INTO @vWanted (K, GroupId)
        SELECT ROW_NUMBER() OVER (ORDER BY f.GroupId), f.GroupId
        FROM (SELECT DISTINCT t.GroupId FROM @vTask AS t WHERE t.GroupId IS NOT NULL) AS f;
        SET @vCount = @@ROWCOUNT;
        SET @vFrom = 1;
        WHILE @vFrom <= @vCount -- a thousand at a time: far below lock escalation
        BEGIN
          INSERT INTO @vGate (GroupId)
          SELECT g.GroupId
          FROM @vWanted AS w
          INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- lock, then look: kept to the end
            ON g.GroupId = w.GroupId
          WHERE w.K BETWEEN @vFrom AND @vFrom + 999
          ORDER BY w.K
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group, ascending
          SET @vFrom = @vFrom + 1000;
        END;
        -- Removed meanwhile: promotion makes it again.
        UPDATE t SET GroupId = NULL, RunAt = @vNow, Place = 4
        FROM @vTask AS t WHERE t.GroupId IS NOT NULL AND NOT EXISTS (SELECT 1 FROM @vGate AS a WHERE a.GroupId = t.GroupId)
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
        UPDATE a SET Slots = g.Slots, Free = CASE
              WHEN g.Paused = 1 OR EXISTS (
                SELECT 1 FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK) WHERE w.GroupId = a.GroupId) THEN 0 -- one probe
              ELSE g.Slots - (
                SELECT COUNT(*) FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) WHERE s.GroupId = a.GroupId) END -- its few rows
        FROM @vGate AS a
        INNER JOIN Taskgate.TaskGroup AS g ON g.GroupId = a.GroupId
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
        INSERT INTO @vSlot (GroupId, K, Slot)
        SELECT a.GroupId, ROW_NUMBER() OVER (PARTITION BY a.GroupId ORDER BY n.N), n.N
        FROM @vGate AS a
        INNER JOIN Taskgate.Number AS n WITH (FORCESEEK) ON n.N <= a.Slots -- the first so many numbers
        WHERE a.Free > 0
          AND NOT EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS s WHERE s.GroupId = a.GroupId AND s.Slot = n.N)
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per slot
        UPDATE t SET Place = CASE WHEN r.K <= a.Free THEN 2 ELSE 3 END, Slot = f.Slot
        FROM (
          SELECT x.Ord, ROW_NUMBER() OVER (PARTITION BY x.GroupId ORDER BY x.Priority, x.TaskId) AS K
          FROM @vTask AS x WHERE x.GroupId IS NOT NULL) AS r
        INNER JOIN @vTask AS t ON t.Ord = r.Ord
        INNER JOIN @vGate AS a ON a.GroupId = t.GroupId
        LEFT JOIN @vSlot AS f ON f.GroupId = t.GroupId AND f.K = r.K
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each per task
      END;

      -- 6. The tasks, and each into its container. These tables have no lock escalation, so one statement each does.
      INSERT INTO Taskgate.Task WITH (ROWLOCK) (
        TaskId, TaskDefinitionId, Kind, Priority, CreatedAt, DueAt, GroupId, PendingGroupKey, PendingGroupIsGlobal, WaveId, DedupeKey,
        Build, TraceParent, PayloadUtf8)
      SELECT t.TaskId, @vDefinition, t.Kind, t.Priority, @vNow, CASE WHEN t.RunAt > @vNow THEN t.RunAt END, t.GroupId, CASE WHEN t.GroupId IS NULL THEN t.GroupKey END,
             CASE WHEN t.GroupId IS NULL AND t.GroupKey IS NOT NULL THEN CASE t.Scope WHEN 0 THEN 1 ELSE 0 END END,
             @WaveId, t.DedupeKey, COALESCE(@Build, 0), t.TraceParent,
             CONVERT(varchar(max), t.Payload COLLATE Latin1_General_100_BIN2_UTF8)
      FROM @vTask AS t WHERE t.IsNew = 1;
      IF @vHasGroups = 1
      BEGIN
        INSERT INTO Taskgate.GroupSlot WITH (ROWLOCK) (GroupId, Slot, TaskId)
        SELECT t.GroupId, t.Slot, t.TaskId FROM @vTask AS t WHERE t.Place = 2;
        INSERT INTO Taskgate.GroupWaiting WITH (ROWLOCK) (GroupId, Priority, Rank, TaskId, TaskDefinitionId)
        SELECT t.GroupId, t.Priority, 0, t.TaskId, @vDefinition FROM @vTask AS t WHERE t.Place = 3;
      END;
      IF @vHasTimes = 1 OR @vHasGroups = 1
        INSERT INTO Taskgate.Scheduled WITH (ROWLOCK) (TaskDefinitionId, RunAt, TaskId)
        SELECT @vDefinition, t.RunAt, t.TaskId FROM @vTask AS t WHERE t.IsNew = 1 AND t.Place = 4;
      IF @WaveId IS NOT NULL
        INSERT INTO Taskgate.WaveBlocked WITH (ROWLOCK) (WaveId, Priority, Rank, TaskId, TaskDefinitionId)
        SELECT @WaveId, t.Priority, 0, t.TaskId, @vDefinition
        FROM @vTask AS t WHERE t.IsNew = 1;
      ELSE
      BEGIN
        INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId)
        SELECT @vDefinition, t.Priority, 0, t.TaskId
        FROM @vTask AS t WHERE t.IsNew = 1 AND t.Place IN (1, 2);
        IF @@ROWCOUNT > 0 SET @vReady = 1;
      END;

      -- 7. What replaces: nothing is waited for any more. Of several entries with one key the first decides.
      IF @vReplaces = 1
      BEGIN
        EXEC Taskgate._ReplacePayloads @Replacements = @vReplacement, @Build = @Build, @JoinsTransaction = @vJoins,
          @oReplaced = @vReplaced OUTPUT;
        INSERT INTO @vCarrier (TaskId) SELECT CONVERT(bigint, j.[value]) FROM OPENJSON(@vReplaced) AS j;
      END;
      IF @vHasKeys = 1 AND EXISTS (SELECT 1 FROM @vTask AS t WHERE t.IsNew = 0)
        SELECT @vOutcomes = N'[' + STRING_AGG(CONVERT(nvarchar(max), CASE WHEN t.IsNew = 1 THEN N'"enqueued"'
                 WHEN r.TaskId IS NOT NULL THEN N'"replaced"' ELSE N'"duplicate"' END), N',') WITHIN GROUP (ORDER BY t.Ord) + N']'
        FROM @vTask AS t
        LEFT JOIN @vKey AS k ON k.DedupeKey = t.DedupeKey AND k.Ord = t.Ord
        LEFT JOIN @vCarrier AS r ON r.TaskId = k.OwnerId
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per task
      IF @vHasTimes = 1 OR @vHasGroups = 1
        SELECT @vNextDueMs = DATEDIFF_BIG(MILLISECOND, @vNow, MIN(t.RunAt)) FROM @vTask AS t WHERE t.IsNew = 1;
      SELECT @vTaskIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), t.TaskId) + N'"'), N',')
               WITHIN GROUP (ORDER BY t.Ord) + N']'
      FROM @vTask AS t;
      IF @ChangedBy IS NOT NULL
        SELECT @vChanged = N'[' + STRING_AGG(CONVERT(nvarchar(max), t.TaskId), N',') WITHIN GROUP (ORDER BY t.TaskId) + N']'
        FROM (SELECT x.TaskId FROM @vTask AS x WHERE x.IsNew = 1 UNION SELECT c.TaskId FROM @vCarrier AS c) AS t;
      IF @vChanged IS NOT NULL
        EXEC Taskgate._AuditCall @Action = N'enqueue_tasks', @TaskDefinitionId = @vDefinition, @BatchId = NULL, @TaskIds = @vChanged,
          @ChangedBy = @ChangedBy, @Reason = @Reason, @Now = @vNow;
      IF @OperationId IS NOT NULL
        INSERT INTO Taskgate.Operation WITH (ROWLOCK) (OperationId, Name, DoneAt, Answer) -- written once; its lock is held since step 3
        VALUES (@OperationId, N'enqueue_tasks', @vNow,
                N'{"target":"' + @vTarget + N'","taskIds":"' + STRING_ESCAPE(@vTaskIds, 'json') + N'","outcomes":'
                + COALESCE(N'"' + STRING_ESCAPE(@vOutcomes, 'json') + N'"', N'null') + N',"ready":' + CASE @vReady WHEN 1 THEN N'true' ELSE N'false' END
                + N',"nextDueMs":' + COALESCE(CONVERT(nvarchar(20), @vNextDueMs), N'null') + N'}');
    END;
    IF @vIsOwn = 1 COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF @vIsOwn = 1 AND XACT_STATE() <> 0 ROLLBACK TRANSACTION; -- the caller's own is the caller's to roll back
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vTaskIds AS [TaskIds], @vOutcomes AS [Outcomes], @vReady AS [Ready], @vNextDueMs AS [NextDueMs];
END;
