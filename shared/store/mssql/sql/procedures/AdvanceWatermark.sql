-- Taskgate.AdvanceWatermark: moves a watermark and adds the tasks (blocks) that lie between, both or neither. Joins the caller's
--         transaction.
-- In:     @Name: the definition; @Watermark: its name, 1..200 characters; @ExpectedVersion bigint: the version that the caller has
--           read, 0 or null: there is none yet; @Value: JSON text of an object or array, at most 65536 bytes: where it stands then
--         @Build bigint, @Tasks: as EnqueueTasks takes them, but the array may be empty: then only the watermark moves
--         @OperationId uniqueidentifier: a repeat with it answers what the first call did; null: the version alone protects, and a
--           repeat is told of a conflict
--         @NeedsAll: 1: a task whose dedupe key another one holds is refused, and the call with it; 0, null: it is answered as a duplicate
-- Out:    Status: advanced | conflict (another call moved it: nothing was written); Version bigint: the new one, of a conflict the one
--           in the table, 0 when there is none; Value: of a conflict: the value in the table, or null
--         TaskIds, Outcomes, Ready, NextDueMs: as EnqueueTasks answers; of a conflict null, null, false, null
-- Raises: 50404 unknown definition; 50409 the operation id was used by another operation, or for another watermark, or with @NeedsAll a task is a duplicate; 50413 too many or too large; 50422 a bad
--         value; 50423 the watermark, an equal key or operation id is locked for longer than 2 s; 1222 a row is; 50425, 1205 chosen to end
--         a circle of waiters. An error dooms the caller's transaction
-- Locks:  the watermark's key and its operation id as _LockKeys; BlockWatermark; then as EnqueueTasks inside a transaction.
--         Grouped tasks enter Scheduled as due now, so no group is locked here
-- Isolation: the watermark's key is locked before its row is looked at, whether there is one or not, and kept to the end, so that one
--         caller makes it, and calls of other watermarks pass. A repeat names the same watermark: it waits there for the first call and
--         then finds its answer. No call takes this lock while holding another one. An enqueue of the same operation id excludes this
--         call by a lock on the id, kept to the end
-- Plan:   unique name, primary keys; at most 1000 rows per write
-- Once:   by operation id; by version: of two calls with the same one at most one moves it. A conflict writes nothing, and its repeat
--         reads the version again
-- Twin:   postgres/sql/functions/advance_watermark.sql
CREATE OR ALTER PROCEDURE Taskgate.AdvanceWatermark
  @Name nvarchar(max), @Watermark nvarchar(max), @ExpectedVersion bigint, @Value nvarchar(max), @Build bigint, @Tasks nvarchar(max),
  @OperationId uniqueidentifier = NULL, @NeedsAll bit = 0
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET LOCK_TIMEOUT 2000;
  DECLARE @vStart int;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2
    SELECT @vStart = n.N FROM Taskgate.Number AS n WHERE n.N = 1; -- starts the caller's transaction as the caller has set it: at SNAPSHOT, or by IMPLICIT_TRANSACTIONS
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vIsOwn bit = CASE WHEN @@TRANCOUNT = 0 THEN 1 ELSE 0 END,
          @vMessage nvarchar(2048), @vBytes bigint, @vDefinition int, @vWatermark nvarchar(200), @vTarget nvarchar(300),
          @vExpected bigint = COALESCE(@ExpectedVersion, 0), @vIsEmpty bit = 0, @vOperation nvarchar(200), @vAnswer nvarchar(max),
          @vStatus nvarchar(20) = N'advanced', @vVersion bigint = 0, @vCurrent nvarchar(max), @vTaskIds nvarchar(max),
          @vOutcomes nvarchar(max), @vReady bit = 0, @vNextDueMs bigint, @vMissed nvarchar(max);
  DECLARE @vLock Taskgate.KeyLockList;
  DECLARE @vEnqueued TABLE (
    [Status] nvarchar(20) NOT NULL, TaskIds nvarchar(max) NULL, Outcomes nvarchar(max) NULL, Ready bit NULL, NextDueMs bigint NULL);

  EXEC Taskgate._CheckText @What = N'watermark', @Text = @Watermark;
  IF @vExpected < 0
  BEGIN
    SET @vMessage = N'expected_version: expected 0 or more (' + CONVERT(nvarchar(20), @vExpected) + N')';
    THROW 50422, @vMessage, 1;
  END;
  SET @vBytes = DATALENGTH(CONVERT(varchar(max), @Value COLLATE Latin1_General_100_BIN2_UTF8));
  IF @vBytes > 65536
  BEGIN
    SET @vMessage = N'value: expected at most 65536 bytes (' + CONVERT(nvarchar(20), @vBytes) + N')';
    THROW 50413, @vMessage, 1;
  END;
  IF Taskgate._JsonKind(@Value) = N''
  BEGIN
    SET @vMessage = N'value: expected the text of a JSON object or array ('
      + COALESCE(REPLACE(LEFT(@Value, 100), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  SET @vWatermark = @Watermark;
  SET @vTarget = CONVERT(nvarchar(11), @vDefinition) + N'/' + @vWatermark;
  -- What isn't an array is for EnqueueTasks to refuse.
  IF Taskgate._JsonKind(@Tasks) = N'['
    SELECT @vIsEmpty = CASE COUNT(*) WHEN 0 THEN 1 ELSE 0 END FROM OPENJSON(@Tasks) AS j;

  BEGIN TRY
    IF @vIsOwn = 1 BEGIN TRANSACTION;
    INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'watermark', @vDefinition, @vWatermark));
    IF @OperationId IS NOT NULL
      INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'operation', NULL, CONVERT(nvarchar(36), @OperationId)));
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look, as an enqueue of that id does
    SELECT @vVersion = w.Version, @vCurrent = NULLIF(w.WatermarkValue, N'null')
    FROM Taskgate.BlockWatermark AS w WITH (ROWLOCK, UPDLOCK) -- the holder of the key may write it
    WHERE w.TaskDefinitionId = @vDefinition AND w.Name = @vWatermark;
    IF @OperationId IS NOT NULL
      SELECT @vOperation = o.Name, @vAnswer = o.Answer FROM Taskgate.Operation AS o WHERE o.OperationId = @OperationId;
    IF @vOperation IS NOT NULL
      EXEC Taskgate._CheckRepeat @OperationId = @OperationId, @Operation = N'advance_watermark', @Target = @vTarget, @UsedBy = @vOperation, @Answer = @vAnswer;
    IF @vOperation IS NOT NULL
      SELECT @vVersion = a.Version, @vTaskIds = a.TaskIds, @vOutcomes = a.Outcomes, @vReady = a.Ready, @vNextDueMs = a.NextDueMs
      FROM OPENJSON(@vAnswer) WITH (
        Version bigint N'$.version', TaskIds nvarchar(max) N'$.taskIds', Outcomes nvarchar(max) N'$.outcomes', Ready bit N'$.ready',
        NextDueMs bigint N'$.nextDueMs') AS a;
    ELSE IF @vVersion <> @vExpected
      SET @vStatus = N'conflict';
    ELSE
    BEGIN
      IF @vVersion = 0
        INSERT INTO Taskgate.BlockWatermark (TaskDefinitionId, Name, WatermarkValue, Version, ChangedAt)
        VALUES (@vDefinition, @vWatermark, @Value, 1, @vNow);
      ELSE
        UPDATE w
        SET WatermarkValue = @Value, Version = @vVersion + 1, ChangedAt = @vNow
        FROM Taskgate.BlockWatermark AS w WITH (ROWLOCK, UPDLOCK) -- the row is ours already
        WHERE w.TaskDefinitionId = @vDefinition AND w.Name = @vWatermark;
      SET @vVersion = @vVersion + 1;
      SET @vTaskIds = N'[]';
      IF @vIsEmpty = 0
      BEGIN
        INSERT INTO @vEnqueued ([Status], TaskIds, Outcomes, Ready, NextDueMs)
        EXEC Taskgate.EnqueueTasks @Name = @Name, @Build = @Build, @Tasks = @Tasks;
        SELECT @vTaskIds = e.TaskIds, @vOutcomes = e.Outcomes, @vReady = e.Ready, @vNextDueMs = e.NextDueMs FROM @vEnqueued AS e;
        IF @NeedsAll = 1 AND @vOutcomes IS NOT NULL
        BEGIN
          SELECT TOP (1) @vMessage = N'tasks[' + CONVERT(nvarchar(11), CONVERT(int, o.[key]))
              + N']: expected a dedupe key that no other task holds, as no block may be left out (task ' + t.[value] + N' holds it)'
          FROM OPENJSON(@vOutcomes) AS o JOIN OPENJSON(@vTaskIds) AS t ON t.[key] = o.[key]
          WHERE o.[value] <> N'enqueued'
          ORDER BY CONVERT(int, o.[key]);
          THROW 50409, @vMessage, 1;
        END;
      END;
      IF @OperationId IS NOT NULL
        INSERT INTO Taskgate.Operation (OperationId, Name, DoneAt, Answer)
        VALUES (@OperationId, N'advance_watermark', @vNow,
                N'{"target":"' + STRING_ESCAPE(@vTarget, 'json') + N'","version":' + CONVERT(nvarchar(20), @vVersion) + N',"taskIds":"' + STRING_ESCAPE(@vTaskIds, 'json') + N'","outcomes":'
                + COALESCE(N'"' + STRING_ESCAPE(@vOutcomes, 'json') + N'"', N'null')
                + N',"ready":' + CASE @vReady WHEN 1 THEN N'true' ELSE N'false' END
                + N',"nextDueMs":' + COALESCE(CONVERT(nvarchar(20), @vNextDueMs), N'null') + N'}');
    END;
    IF @vIsOwn = 1 COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF @vIsOwn = 1 AND XACT_STATE() <> 0 ROLLBACK TRANSACTION; -- the caller's own is the caller's to roll back
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vVersion AS [Version], CASE @vStatus WHEN N'conflict' THEN @vCurrent END AS [Value],
         @vTaskIds AS [TaskIds], @vOutcomes AS [Outcomes], @vReady AS [Ready], @vNextDueMs AS [NextDueMs];
END;
