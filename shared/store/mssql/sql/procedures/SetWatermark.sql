-- Taskgate.SetWatermark: an operator's watermark: back, to make blocks again, on, to pass over data, or none, to begin anew. Makes no
--         tasks, and leaves those that there are.
-- In:     @Name: the definition; @Watermark: its name, 1..200 characters; one that doesn't exist is made; @Value: JSON text of an object
--           or array, at most 65536 bytes, or null: none, the next maker begins where it begins the first time
--         @ExpectedVersion bigint: only if this is its version, 0 there is none yet; null: any version
--         @OperationId uniqueidentifier: a repeat with it answers what the first call did; @ChangedBy (null: the login), @Reason for the audit
-- Out:    Status: set | conflict (another call moved it: nothing was written); Version bigint: the new one, of a conflict the one
--           in the table, 0 when there is none; OldValue: the value before, of a conflict the value in the table, or null
-- Raises: 50404 unknown definition; 50409 the operation id was used by another operation, or for another watermark; 50413 too large; 50422 a bad value; 50423
--         the watermark or the operation id is in use for longer than 2 s; 50490 inside a transaction; 1222 a row is locked for that
--         long; 50425, 1205 chosen to end a circle of waiters
-- Locks:  the watermark's key and its operation id as _LockKeys; BlockWatermark; Operation (own new row)
-- Isolation: as AdvanceWatermark, which locks them in the same order: a maker that has read the old version is told of a
--         conflict, so nothing is made from an old value
-- Plan:   unique name, primary keys
-- Once:   by operation id; a conflict writes nothing, and its repeat reads the version again
-- Twin:   postgres/sql/functions/set_watermark.sql
CREATE OR ALTER PROCEDURE Taskgate.SetWatermark
  @Name nvarchar(max), @Watermark nvarchar(max), @Value nvarchar(max), @ExpectedVersion bigint, @OperationId uniqueidentifier,
  @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vBytes bigint, @vDefinition int,
          @vWatermark nvarchar(200), @vTarget nvarchar(300), @vOperation nvarchar(200), @vAnswer nvarchar(max), @vStatus nvarchar(20) = N'set',
          @vVersion bigint = 0, @vOldValue nvarchar(max), @vMissed nvarchar(max);
  DECLARE @vLock Taskgate.KeyLockList;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  EXEC Taskgate._CheckText @What = N'watermark', @Text = @Watermark;
  IF @ExpectedVersion < 0
  BEGIN
    SET @vMessage = N'expected_version: expected 0 or more (' + CONVERT(nvarchar(20), @ExpectedVersion) + N')';
    THROW 50422, @vMessage, 1;
  END;
  SET @vBytes = DATALENGTH(CONVERT(varchar(max), @Value COLLATE Latin1_General_100_BIN2_UTF8));
  IF @vBytes > 65536
  BEGIN
    SET @vMessage = N'value: expected at most 65536 bytes (' + CONVERT(nvarchar(20), @vBytes) + N')';
    THROW 50413, @vMessage, 1;
  END;
  IF @Value IS NOT NULL AND Taskgate._JsonKind(@Value) = N''
  BEGIN
    SET @vMessage = N'value: expected the text of a JSON object or array (' + REPLACE(LEFT(@Value, 100), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF @OperationId IS NULL THROW 50422, N'operation_id: expected a uuid (<NULL>)', 1;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  SET @vWatermark = @Watermark;
  SET @vTarget = CONVERT(nvarchar(11), @vDefinition) + N'/' + @vWatermark;

  BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'watermark', @vDefinition, @vWatermark));
    INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'operation', NULL, CONVERT(nvarchar(36), @OperationId)));
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look, as an enqueue of that id does
    SELECT @vVersion = w.Version, @vOldValue = NULLIF(w.WatermarkValue, N'null')
    FROM Taskgate.BlockWatermark AS w WITH (ROWLOCK, UPDLOCK) -- the holder of the key may write it
    WHERE w.TaskDefinitionId = @vDefinition AND w.Name = @vWatermark;
    SELECT @vOperation = o.Name, @vAnswer = o.Answer FROM Taskgate.Operation AS o WHERE o.OperationId = @OperationId;
    IF @vOperation IS NOT NULL
      EXEC Taskgate._CheckRepeat @OperationId = @OperationId, @Operation = N'set_watermark', @Target = @vTarget, @UsedBy = @vOperation, @Answer = @vAnswer;
    IF @vOperation IS NOT NULL
      SELECT @vVersion = a.Version, @vOldValue = a.OldValue
      FROM OPENJSON(@vAnswer) WITH (Version bigint N'$.version', OldValue nvarchar(max) N'$.oldValue') AS a;
    ELSE IF @vVersion <> @ExpectedVersion
      SET @vStatus = N'conflict';
    ELSE
    BEGIN
      IF @vVersion = 0
        INSERT INTO Taskgate.BlockWatermark (TaskDefinitionId, Name, WatermarkValue, Version, ChangedAt)
        VALUES (@vDefinition, @vWatermark, COALESCE(@Value, N'null'), 1, @vNow);
      ELSE
        UPDATE w
        SET WatermarkValue = COALESCE(@Value, N'null'), Version = @vVersion + 1, ChangedAt = @vNow
        FROM Taskgate.BlockWatermark AS w WITH (ROWLOCK, UPDLOCK) -- the row is ours already
        WHERE w.TaskDefinitionId = @vDefinition AND w.Name = @vWatermark;
      SET @vVersion = @vVersion + 1;
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (@vDefinition, N'watermark', -- the first ` of ` ends the value: one that has it is written with an escape that JSON knows
              LEFT(REPLACE(@vOldValue COLLATE Latin1_General_100_BIN2, N' of', N' o\u0066'), 190) + N' of ' + @vWatermark,
              LEFT(REPLACE(@Value COLLATE Latin1_General_100_BIN2, N' of', N' o\u0066'), 190) + N' of ' + @vWatermark,
              N'operator', @ChangedBy, @Reason, @vNow);
      INSERT INTO Taskgate.Operation (OperationId, Name, DoneAt, Answer)
      VALUES (@OperationId, N'set_watermark', @vNow,
              N'{"target":"' + STRING_ESCAPE(@vTarget, 'json') + N'","version":' + CONVERT(nvarchar(20), @vVersion) + N',"oldValue":'
              + COALESCE(N'"' + STRING_ESCAPE(@vOldValue, 'json') + N'"', N'null') + N'}');
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vVersion AS [Version], @vOldValue AS [OldValue];
END;
