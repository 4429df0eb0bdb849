-- Taskgate.SetSharedLimit: an operator's limit that several definitions share, over the code's, or no override any more. One that
-- doesn't exist yet is made. Acts at the next grant.
-- In:     @Name 1..200 characters; @Limit -1 none | 0 nothing starts | 1..1000 | null: the code's limit again;
--         @OperationId uniqueidentifier: a repeat with it answers what the first call did; @ChangedBy (null: the login), @Reason for the audit
--         @ExpectedLimit -1..1000: only if this is the limit in force; null: any, also none yet
-- Out:    Status: set | created | conflict (another limit is in force, or there is none: nothing was written; OldLimit and NewLimit are
--         it, Held and OverLimit 0); OldLimit (null: it was made, or isn't there), NewLimit: effective, -1 none; Held: tokens held now by all definitions
--         together; OverLimit: of them above the new limit: they come back as their tasks end, no task is stopped
--         Definitions: JSON array of names of those that draw from it and have ready tasks (hints are due when raised), or null
-- Raises: 50404 null for a name that doesn't exist; 50409 the operation id was used by another operation, or for another limit; 50422 name or limit
--         out of range or no operation id; 50423 that id is in use for longer than 2 s; 50490 inside a transaction; 1222 a row is locked
--         for that long
-- Locks:  its operation id as _LockKeys; SharedLimit (the new name's place, then the row), TaskExecution (dead holders, by skip),
--         Operation (own new row)
-- Isolation: calls with equal operation ids exclude each other by a lock on the id, kept to the end; the row of that id is read
--         in a later statement. It is locked before the limit: its holder may be a user's open transaction, and no grant waits for that
-- Plan:   unique name, primary keys
-- Once:   by operation id, and by value; a conflict writes nothing, and its repeat reads the limit again
-- Twin:   postgres/sql/functions/set_shared_limit.sql
CREATE OR ALTER PROCEDURE Taskgate.SetSharedLimit
  @Name nvarchar(max), @Limit int, @OperationId uniqueidentifier, @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL,
  @ExpectedLimit int = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vName nvarchar(200), @vId int, @vStatus nvarchar(20), @vShared nvarchar(max),
          @vNames nvarchar(max), @vMade int, @vLimit int, @vOverride int, @vOperation nvarchar(200), @vAnswer nvarchar(max),
          @vReadyIds nvarchar(max), @vDefinitions nvarchar(max), @vOld int, @vNew int, @vHeld int, @vOverLimit int,
          @vMissed nvarchar(max);
  DECLARE @vLock Taskgate.KeyLockList;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  EXEC Taskgate._CheckText @What = N'name', @Text = @Name;
  IF @Limit NOT BETWEEN -1 AND 1000
  BEGIN
    SET @vMessage = N'limit: expected -1 (none), 0 (nothing starts) or 1..1000 (' + CONVERT(nvarchar(11), @Limit) + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF @OperationId IS NULL THROW 50422, N'operation_id: expected a uuid (<NULL>)', 1;
  SET @vName = @Name;
  SELECT @vId = s.SharedLimitId FROM Taskgate.SharedLimit AS s WHERE s.Name = @vName;
  IF @vId IS NULL AND @Limit IS NULL
  BEGIN
    SET @vMessage = N'name: unknown shared limit (' + REPLACE(@vName, N'%', N'%%') + N')';
    THROW 50404, @vMessage, 1;
  END;
  -- Before anything is locked: without row versions these reads may wait for a claim.
  SELECT @vReadyIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), l.TaskDefinitionId), N',') + N']'
  FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
  WHERE l.SharedLimitId = @vId AND EXISTS (
    SELECT 1 FROM Taskgate.Ready AS r WITH (FORCESEEK) WHERE r.TaskDefinitionId = l.TaskDefinitionId); -- one probe each
  SET @vDefinitions = Taskgate._DefinitionNames(@vReadyIds, 0);
  BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'operation', NULL, CONVERT(nvarchar(36), @OperationId)));
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look; no row is held meanwhile
    IF @vId IS NULL
    BEGIN
      SET @vNames = N'["' + STRING_ESCAPE(@vName, 'json') + N'"]';
      EXEC Taskgate._MakeShared @Names = @vNames, @oShared = @vShared OUTPUT, @oMade = @vMade OUTPUT;
    END;
    ELSE SET @vShared = CONVERT(nvarchar(20), @vId);
    SET @vId = CONVERT(int, @vShared);
    EXEC Taskgate._LockShared @Shared = @vShared;
    SELECT @vLimit = s.ConcurrencyLimit, @vOverride = s.ConcurrencyLimitOverride
    FROM Taskgate.SharedLimit AS s -- written by this call, which locks it: the row as it is now
    WHERE s.SharedLimitId = @vId;
    SELECT @vOperation = o.Name, @vAnswer = o.Answer FROM Taskgate.Operation AS o WHERE o.OperationId = @OperationId;
    IF @vOperation IS NOT NULL
      EXEC Taskgate._CheckRepeat @OperationId = @OperationId, @Operation = N'set_shared_limit', @Target = @vName, @UsedBy = @vOperation, @Answer = @vAnswer;
    IF @vOperation IS NOT NULL
      ROLLBACK TRANSACTION; -- a repeat: nothing has been changed but the lock mark
    ELSE IF @vMade = 1 AND @ExpectedLimit IS NOT NULL OR COALESCE(@vOverride, @vLimit) <> @ExpectedLimit
    BEGIN
      ROLLBACK TRANSACTION; -- likewise; a new name's place is given back
      SET @vStatus = N'conflict';
      SET @vAnswer = N'{"status":"' + @vStatus + N'","oldLimit":'
        + CASE @vMade WHEN 1 THEN N'null' ELSE CONVERT(nvarchar(11), COALESCE(@vOverride, @vLimit)) END
        + N',"newLimit":' + CASE @vMade WHEN 1 THEN N'-1' ELSE CONVERT(nvarchar(11), COALESCE(@vOverride, @vLimit)) END
        + N',"held":0,"overLimit":0,"definitions":null}';
    END;
    ELSE
    BEGIN
      EXEC Taskgate._ChangeSharedLimit @SharedLimitId = @vId, @Limit = @vLimit, @Override = @Limit,
        @oOld = @vOld OUTPUT, @oNew = @vNew OUTPUT, @oHeld = @vHeld OUTPUT, @oOverLimit = @vOverLimit OUTPUT;
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (0, N'shared_limit_override', CONVERT(nvarchar(20), @vOverride) + N' of ' + @vName,
              CONVERT(nvarchar(20), @Limit) + N' of ' + @vName, N'operator', @ChangedBy, @Reason, @vNow);
      SET @vAnswer = N'{"target":"' + STRING_ESCAPE(@vName, 'json') + N'","status":"' + CASE @vMade WHEN 1 THEN N'created' ELSE N'set' END
        + N'","oldLimit":' + CASE @vMade WHEN 1 THEN N'null' ELSE CONVERT(nvarchar(11), @vOld) END
        + N',"newLimit":' + CONVERT(nvarchar(11), @vNew) + N',"held":' + CONVERT(nvarchar(11), @vHeld)
        + N',"overLimit":' + CONVERT(nvarchar(11), @vOverLimit) + N',"definitions":' + COALESCE(@vDefinitions, N'null') + N'}';
      INSERT INTO Taskgate.Operation (OperationId, Name, DoneAt, Answer)
      VALUES (@OperationId, N'set_shared_limit', @vNow, @vAnswer);
      COMMIT TRANSACTION;
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT j.Status AS [Status], j.OldLimit AS [OldLimit], j.NewLimit AS [NewLimit], j.Held AS [Held], j.OverLimit AS [OverLimit],
         j.Definitions AS [Definitions]
  FROM OPENJSON(@vAnswer) WITH (
    Status nvarchar(20) N'$.status', OldLimit int N'$.oldLimit', NewLimit int N'$.newLimit', Held int N'$.held',
    OverLimit int N'$.overLimit', Definitions nvarchar(max) N'$.definitions' AS JSON) AS j;
END;
