-- Taskgate.SetLimit: an operator's limit, over the code's, or no override any more. Acts at the next grant.
-- In:     @Name; @Limit -1 none | 0 nothing starts | 1..1000 | null: the code's limit again;
--         @OperationId uniqueidentifier: a repeat with it answers what the first call did; @ChangedBy (null: the login), @Reason for the audit
--         @ExpectedLimit -1..1000: only if this is the limit in force; null: any
-- Out:    Status: set | conflict (another limit is in force: nothing was written; OldLimit and NewLimit are it, Held and OverLimit 0);
--         OldLimit, NewLimit: effective, -1 none; Held: tokens held now; OverLimit: of them above the new
--         limit: they come back as their tasks end, no task is stopped; Ready: tasks wait (a hint is due when raised)
-- Raises: 50404 unknown definition; 50409 the operation id was used by another operation, or for another definition; 50422 limit out of range or
--         no operation id; 50423 that id is in use for longer than 2 s; 50490 inside a transaction; 1222 a row is locked for that long
-- Locks:  its operation id as _LockKeys; TaskDefinition, Token, Operation (own new row)
-- Isolation: calls with equal operation ids exclude each other by a lock on the id, kept to the end; the row of that id is read
--         in a later statement. It is locked before the definition: its holder may be a user's open transaction, and no grant waits for that
-- Plan:   unique name, primary keys; the last entry of PK_Ready: at the first ones claims leave deleted entries
-- Once:   by operation id, and by value; a conflict writes nothing, and its repeat reads the limit again
-- Twin:   postgres/sql/functions/set_limit.sql
CREATE OR ALTER PROCEDURE Taskgate.SetLimit
  @Name nvarchar(max), @Limit int, @OperationId uniqueidentifier, @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL,
  @ExpectedLimit int = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vDefinition int, @vTarget nvarchar(11),
          @vStatus nvarchar(20) = N'set', @vLimit int, @vOverride int, @vOperation nvarchar(200), @vAnswer nvarchar(max),
          @vOld int, @vNew int, @vHeld int, @vOverLimit int, @vReady bit, @vMissed nvarchar(max);
  DECLARE @vLock Taskgate.KeyLockList;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  IF @Limit NOT BETWEEN -1 AND 1000
  BEGIN
    SET @vMessage = N'limit: expected -1 (none), 0 (nothing starts) or 1..1000 (' + CONVERT(nvarchar(11), @Limit) + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF @OperationId IS NULL THROW 50422, N'operation_id: expected a uuid (<NULL>)', 1;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  SET @vTarget = CONVERT(nvarchar(11), @vDefinition);
  -- An enqueue that is open at that end isn't waited for: it leaves its own hint.
  SET @vReady = Taskgate._HasReady(@vDefinition);
  BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'operation', NULL, CONVERT(nvarchar(36), @OperationId)));
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look; no row is held meanwhile
    UPDATE d
    SET HoldLockTaskExecutionId = 0
    FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
    WHERE d.TaskDefinitionId = @vDefinition;
    SELECT @vLimit = d.ConcurrencyLimit, @vOverride = d.ConcurrencyLimitOverride
    FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
    WHERE d.TaskDefinitionId = @vDefinition;
    SELECT @vOperation = o.Name, @vAnswer = o.Answer FROM Taskgate.Operation AS o WHERE o.OperationId = @OperationId;
    IF @vOperation IS NOT NULL
      EXEC Taskgate._CheckRepeat @OperationId = @OperationId, @Operation = N'set_limit', @Target = @vTarget, @UsedBy = @vOperation, @Answer = @vAnswer;
    IF @vOperation IS NOT NULL
      ROLLBACK TRANSACTION; -- a repeat: nothing has been changed but the lock mark
    ELSE IF COALESCE(@vOverride, @vLimit) <> @ExpectedLimit
    BEGIN
      ROLLBACK TRANSACTION; -- likewise
      SET @vStatus = N'conflict';
      SET @vAnswer = N'{"oldLimit":' + CONVERT(nvarchar(11), COALESCE(@vOverride, @vLimit)) + N',"newLimit":'
        + CONVERT(nvarchar(11), COALESCE(@vOverride, @vLimit)) + N',"held":0,"overLimit":0,"ready":false}';
    END;
    ELSE
    BEGIN
      EXEC Taskgate._ChangeLimit @TaskDefinitionId = @vDefinition, @Limit = @vLimit, @Override = @Limit,
        @oOld = @vOld OUTPUT, @oNew = @vNew OUTPUT, @oHeld = @vHeld OUTPUT, @oOverLimit = @vOverLimit OUTPUT;
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (@vDefinition, N'limit_override', CONVERT(nvarchar(20), @vOverride), CONVERT(nvarchar(20), @Limit), N'operator',
              @ChangedBy, @Reason, @vNow);
      SET @vAnswer = N'{"target":"' + @vTarget + N'","oldLimit":' + CONVERT(nvarchar(11), @vOld) + N',"newLimit":' + CONVERT(nvarchar(11), @vNew)
        + N',"held":' + CONVERT(nvarchar(11), @vHeld) + N',"overLimit":' + CONVERT(nvarchar(11), @vOverLimit)
        + N',"ready":' + CASE @vReady WHEN 1 THEN N'true' ELSE N'false' END + N'}';
      INSERT INTO Taskgate.Operation (OperationId, Name, DoneAt, Answer)
      VALUES (@OperationId, N'set_limit', @vNow, @vAnswer);
      COMMIT TRANSACTION;
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status],
         CONVERT(int, JSON_VALUE(@vAnswer, N'$.oldLimit')) AS [OldLimit],
         CONVERT(int, JSON_VALUE(@vAnswer, N'$.newLimit')) AS [NewLimit],
         CONVERT(int, JSON_VALUE(@vAnswer, N'$.held')) AS [Held],
         CONVERT(int, JSON_VALUE(@vAnswer, N'$.overLimit')) AS [OverLimit],
         CONVERT(bit, CASE JSON_VALUE(@vAnswer, N'$.ready') WHEN N'true' THEN 1 ELSE 0 END) AS [Ready];
END;
