-- Taskgate.RegisterDefinition: writes what the code says of a definition; an operator's overrides stay. While a stop of everything is on,
--         a new definition is made paused, as a part of the stop.
-- In:     @Name 1..200 characters without leading or trailing blanks; @Build bigint: an older one changes nothing;
--         @SettingsHash: of all settings below; @RegisteredBy 1..200 characters: who, for the audit; null: the login
--         @Limit -1 none | 0 nothing starts | 1..1000; @LeaseMs 1000..86400000; @RetryAttempts 1..1000; @LostMax 0..1000;
--         @RetryBaseMs 0..86400000; @RetryCapMs @RetryBaseMs..2147483647; @PrefetchMax 0..1000;
--         @GroupSlots 1..1000; @GroupStrict; @RetainDoneMs, @RetainDeadMs 0..3153600000000
--         @RateCount 1..1000000 tasks per @RatePeriodMs 1000..86400000, @RateBurst 1..@RateCount at once; null: no rate
--         @SharedLimits: JSON array of at most 8 {name, limit: -1..1000, null leaves it, 1 at first}, or null: none
--         @Kinds: JSON array of at most 1000 {kind 1..200 characters; groupBy: path of the group's key in the payload, such as customer.id;
--           isGroupComputed: a function in the code has it; priority; runInMs; dedupeBy: a path; dedupeMs}: the rules for a kind's tasks
--           where the caller says nothing. Kinds that aren't named stay as they are; null: all
--         @KeepPayload: 0: the payload of a task goes when it is done
-- Out:    Status: created | updated | exists | outdated (an older build asked); TaskDefinitionId int
-- Raises: 50422 a value out of range, naming field and value; 50490 inside a transaction
-- Locks:  TaskDefinition: the name's entry or place; SharedLimit: new names' places, then the rows before and now; TaskDefinition: the
--         row, Token; RateBucket: waits for the claim that holds it; TaskKind; Stop, of a new definition
-- Isolation: two callers with one name: the second waits for its entry or place, then finds the row and tests the build again. So
--         the definition's shared limits stay the same under every lock: only registrations change them. A stop that is being set is
--         waited for at its row; one that comes later waits for this call and then finds the definition (SetStop)
-- Plan:   unique name, then primary key
-- Once:   by name and hash: a repeat is `exists`
-- Twin:   postgres/sql/functions/register_definition.sql
CREATE OR ALTER PROCEDURE Taskgate.RegisterDefinition
  @Name nvarchar(max), @Build bigint, @SettingsHash nvarchar(max), @RegisteredBy nvarchar(max),
  @Limit int, @LeaseMs int, @RetryAttempts int, @LostMax int, @RetryBaseMs int, @RetryCapMs int,
  @PrefetchMax int, @GroupSlots int, @GroupStrict bit, @RetainDoneMs bigint, @RetainDeadMs bigint,
  @RateCount int = NULL, @RatePeriodMs int = NULL, @RateBurst int = NULL,
  @SharedLimits nvarchar(max) = NULL, @Kinds nvarchar(max) = NULL, @KeepPayload bit = 1
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vName nvarchar(200), @vHash nvarchar(64),
          @vStatus nvarchar(20), @vDefinition int, @vBuild bigint, @vIsSame bit, @vOverride int,
          @vOld int, @vNew int, @vHeld int, @vOverLimit int,
          @vShared nvarchar(max), @vNames nvarchar(max), @vMade int, @vOldShared nvarchar(max), @vNewShared nvarchar(max),
          @vStoppedAt datetime2(3), @vStoppedBy nvarchar(200), @vReason nvarchar(400), @vOldKinds nvarchar(400), @vNewKinds nvarchar(400), @vOldCodeRate nvarchar(100), @vNewCodeRate nvarchar(100), @vOldRate nvarchar(100), @vNewRate nvarchar(100);
  DECLARE @vCreated TABLE (TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vBefore TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, ConcurrencyLimit int NOT NULL, LeaseMs int NOT NULL,
    RetryAttempts smallint NOT NULL, LostMax smallint NOT NULL, RetryBaseMs int NOT NULL, RetryCapMs int NOT NULL,
    PrefetchMax smallint NOT NULL, GroupSlots smallint NOT NULL, GroupStrict bit NOT NULL, RetainDoneMs bigint NOT NULL,
    RetainDeadMs bigint NOT NULL, KeepPayload bit NOT NULL, Build bigint NOT NULL);

  SET @vMessage = CASE
    WHEN @Name IS NULL OR DATALENGTH(@Name) NOT BETWEEN 2 AND 400 OR DATALENGTH(@Name) <> DATALENGTH(LTRIM(RTRIM(@Name)))
      THEN N'name: expected 1..200 characters without blanks at either end ('
        + COALESCE(REPLACE(LEFT(@Name, 220), N'%', N'%%'), N'null') + N')'
    WHEN @Build IS NULL OR @Build < 0
      THEN N'build: expected 0 or more (' + COALESCE(CONVERT(nvarchar(20), @Build), N'null') + N')'
    WHEN @SettingsHash IS NULL OR DATALENGTH(@SettingsHash) NOT BETWEEN 2 AND 128
      THEN N'settings_hash: expected 1..64 characters (' + COALESCE(REPLACE(LEFT(@SettingsHash, 80), N'%', N'%%'), N'null') + N')'
    WHEN DATALENGTH(@RegisteredBy) > 400 OR LTRIM(@RegisteredBy) = N''
      THEN N'registered_by: expected 1..200 characters, or null for the login (' + REPLACE(LEFT(@RegisteredBy, 220), N'%', N'%%') + N')'
    WHEN @Limit IS NULL OR @Limit NOT BETWEEN -1 AND 1000
      THEN N'limit: expected -1..1000 (' + COALESCE(CONVERT(nvarchar(20), @Limit), N'null') + N')'
    WHEN @LeaseMs IS NULL OR @LeaseMs NOT BETWEEN 1000 AND 86400000
      THEN N'lease_ms: expected 1000..86400000 (' + COALESCE(CONVERT(nvarchar(20), @LeaseMs), N'null') + N')'
    WHEN @RetryAttempts IS NULL OR @RetryAttempts NOT BETWEEN 1 AND 1000
      THEN N'retry_attempts: expected 1..1000 (' + COALESCE(CONVERT(nvarchar(20), @RetryAttempts), N'null') + N')'
    WHEN @LostMax IS NULL OR @LostMax NOT BETWEEN 0 AND 1000
      THEN N'lost_max: expected 0..1000 (' + COALESCE(CONVERT(nvarchar(20), @LostMax), N'null') + N')'
    WHEN @RetryBaseMs IS NULL OR @RetryBaseMs NOT BETWEEN 0 AND 86400000
      THEN N'retry_base_ms: expected 0..86400000 (' + COALESCE(CONVERT(nvarchar(20), @RetryBaseMs), N'null') + N')'
    WHEN @RetryCapMs IS NULL OR @RetryCapMs < @RetryBaseMs
      THEN N'retry_cap_ms: expected retry_base_ms or more (' + COALESCE(CONVERT(nvarchar(20), @RetryCapMs), N'null') + N')'
    WHEN @PrefetchMax IS NULL OR @PrefetchMax NOT BETWEEN 0 AND 1000
      THEN N'prefetch_max: expected 0..1000 (' + COALESCE(CONVERT(nvarchar(20), @PrefetchMax), N'null') + N')'
    WHEN @GroupSlots IS NULL OR @GroupSlots NOT BETWEEN 1 AND 1000
      THEN N'group_slots: expected 1..1000 (' + COALESCE(CONVERT(nvarchar(20), @GroupSlots), N'null') + N')'
    WHEN @KeepPayload IS NULL THEN N'keep_payload: expected true or false (null)'
    WHEN @GroupStrict IS NULL THEN N'group_strict: expected true or false (null)'
    WHEN @RetainDoneMs IS NULL OR @RetainDoneMs NOT BETWEEN 0 AND 3153600000000
      THEN N'retain_done_ms: expected 0..3153600000000 (' + COALESCE(CONVERT(nvarchar(20), @RetainDoneMs), N'null') + N')'
    WHEN @RetainDeadMs IS NULL OR @RetainDeadMs NOT BETWEEN 0 AND 3153600000000
      THEN N'retain_dead_ms: expected 0..3153600000000 (' + COALESCE(CONVERT(nvarchar(20), @RetainDeadMs), N'null') + N')'
    WHEN @RateCount IS NOT NULL OR @RatePeriodMs IS NOT NULL OR @RateBurst IS NOT NULL
      THEN Taskgate._RateProblem(@RateCount, @RatePeriodMs, @RateBurst)
    END;
  IF @vMessage IS NULL SET @vMessage = COALESCE(Taskgate._SharedProblem(@SharedLimits), Taskgate._KindsProblem(@Kinds));
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  EXEC Taskgate._CheckActor @ChangedBy = @RegisteredBy OUTPUT, @Reason = NULL;
  SET @vName = @Name;
  SET @vHash = @SettingsHash;

  BEGIN TRY
    SELECT @vDefinition = d.TaskDefinitionId, @vBuild = d.Build, @vIsSame = CASE WHEN d.SettingsHash = @vHash THEN 1 ELSE 0 END
    FROM Taskgate.TaskDefinition AS d
    WHERE d.Name = @vName;
    SET @vStatus = CASE WHEN @vBuild > @Build THEN N'outdated' WHEN @vBuild = @Build AND @vIsSame = 1 THEN N'exists' END;
    BEGIN TRANSACTION;
    IF @vStatus IS NULL
    BEGIN
      -- Registrations of one name come one after the other: only they change from which shared limits it draws.
      SELECT @vDefinition = d.TaskDefinitionId
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK, INDEX (UQ_TaskDefinition_Name)) -- the entry, else its place
      WHERE d.Name = @vName;
      SELECT @vNames = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + STRING_ESCAPE(w.Name, 'json') + N'"'), N',') + N']'
      FROM OPENJSON(@SharedLimits) WITH (Name nvarchar(200) N'$.name') AS w;
      SET @vShared = N'';
      IF @vNames IS NOT NULL EXEC Taskgate._MakeShared @Names = @vNames, @oShared = @vShared OUTPUT, @oMade = @vMade OUTPUT;
      SET @vNames = Taskgate._SharedIds(@vDefinition);
      SET @vShared = @vShared + CASE WHEN @vShared <> N'' AND @vNames <> N'' THEN N',' ELSE N'' END + @vNames;
      IF @vShared <> N'' EXEC Taskgate._LockShared @Shared = @vShared;
      SET @vStatus = N'updated';
      IF @vDefinition IS NULL
      BEGIN
        INSERT INTO Taskgate.TaskDefinition (Name, ConcurrencyLimit, ExecutionTokens, CreatedAt)
        OUTPUT inserted.TaskDefinitionId INTO @vCreated (TaskDefinitionId)
        VALUES (@vName, 0, N'rows', @vNow);
        SELECT @vDefinition = c.TaskDefinitionId, @vStatus = N'created' FROM @vCreated AS c;
        INSERT INTO Taskgate.TokenDemand (TaskDefinitionId, DeniedAt) VALUES (@vDefinition, '2000-01-01');
        INSERT INTO Taskgate.TokenGift (TaskDefinitionId, GivenAt) VALUES (@vDefinition, '2000-01-01');
      END;
    END;

    IF @vStatus IN (N'created', N'updated')
    BEGIN
      INSERT INTO @vBefore (
        TaskDefinitionId, ConcurrencyLimit, LeaseMs, RetryAttempts, LostMax, RetryBaseMs, RetryCapMs, PrefetchMax, GroupSlots, GroupStrict,
        RetainDoneMs, RetainDeadMs, KeepPayload, Build)
      SELECT d.TaskDefinitionId, d.ConcurrencyLimit, d.LeaseMs, d.RetryAttempts, d.LostMax, d.RetryBaseMs, d.RetryCapMs, d.PrefetchMax,
             d.GroupSlots, d.GroupStrict, d.RetainDoneMs, d.RetainDeadMs, d.KeepPayload, d.Build
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
      WHERE d.TaskDefinitionId = @vDefinition;
      -- Another call may have been first.
      SELECT @vOverride = d.ConcurrencyLimitOverride,
             @vStatus = CASE WHEN @vStatus = N'created' THEN N'created' WHEN d.Build > @Build THEN N'outdated'
                             WHEN d.Build = @Build AND d.SettingsHash = @vHash THEN N'exists' ELSE N'updated' END
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE d.TaskDefinitionId = @vDefinition;
    END;
    IF @vStatus IN (N'created', N'updated')
    BEGIN
      EXEC Taskgate._ChangeLimit @TaskDefinitionId = @vDefinition, @Limit = @Limit, @Override = @vOverride,
        @oOld = @vOld OUTPUT, @oNew = @vNew OUTPUT, @oHeld = @vHeld OUTPUT, @oOverLimit = @vOverLimit OUTPUT;
      EXEC Taskgate._ChangeRate @TaskDefinitionId = @vDefinition, @IsOverride = 0, @Count = @RateCount, @PeriodMs = @RatePeriodMs,
        @Burst = @RateBurst, @oOld = @vOldCodeRate OUTPUT, @oNew = @vNewCodeRate OUTPUT, @oOldRate = @vOldRate OUTPUT,
        @oNewRate = @vNewRate OUTPUT;
      IF @vShared <> N''
        EXEC Taskgate._ChangeSharedLinks @TaskDefinitionId = @vDefinition, @SharedLimits = @SharedLimits, @RegisteredBy = @RegisteredBy,
          @Now = @vNow, @oOld = @vOldShared OUTPUT, @oNew = @vNewShared OUTPUT;
      EXEC Taskgate._WriteKinds @TaskDefinitionId = @vDefinition, @Kinds = @Kinds, @oOld = @vOldKinds OUTPUT, @oNew = @vNewKinds OUTPUT;
      UPDATE d
      SET LeaseMs = @LeaseMs, RetryAttempts = @RetryAttempts, LostMax = @LostMax, RetryBaseMs = @RetryBaseMs, RetryCapMs = @RetryCapMs,
          PrefetchMax = @PrefetchMax, GroupSlots = @GroupSlots, GroupStrict = @GroupStrict, RetainDoneMs = @RetainDoneMs,
          RetainDeadMs = @RetainDeadMs, KeepPayload = @KeepPayload, Build = @Build, SettingsHash = @vHash
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE d.TaskDefinitionId = @vDefinition;
      IF @vStatus = N'created'
        INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, ChangedAt)
        VALUES (@vDefinition, N'limit', NULL, CONVERT(nvarchar(20), @Limit), N'code', @RegisteredBy, @vNow);
      ELSE
        INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, ChangedAt)
        SELECT @vDefinition, v.Setting, v.OldValue, v.NewValue, N'code', @RegisteredBy, @vNow
        FROM @vBefore AS b
        CROSS APPLY (VALUES
          (N'limit', CONVERT(nvarchar(20), b.ConcurrencyLimit), CONVERT(nvarchar(20), @Limit)),
          (N'lease_ms', CONVERT(nvarchar(20), b.LeaseMs), CONVERT(nvarchar(20), @LeaseMs)),
          (N'retry_attempts', CONVERT(nvarchar(20), b.RetryAttempts), CONVERT(nvarchar(20), @RetryAttempts)),
          (N'lost_max', CONVERT(nvarchar(20), b.LostMax), CONVERT(nvarchar(20), @LostMax)),
          (N'retry_base_ms', CONVERT(nvarchar(20), b.RetryBaseMs), CONVERT(nvarchar(20), @RetryBaseMs)),
          (N'retry_cap_ms', CONVERT(nvarchar(20), b.RetryCapMs), CONVERT(nvarchar(20), @RetryCapMs)),
          (N'prefetch_max', CONVERT(nvarchar(20), b.PrefetchMax), CONVERT(nvarchar(20), @PrefetchMax)),
          (N'group_slots', CONVERT(nvarchar(20), b.GroupSlots), CONVERT(nvarchar(20), @GroupSlots)),
          (N'group_strict', CASE b.GroupStrict WHEN 1 THEN N'true' ELSE N'false' END,
           CASE @GroupStrict WHEN 1 THEN N'true' ELSE N'false' END),
          (N'retain_done_ms', CONVERT(nvarchar(20), b.RetainDoneMs), CONVERT(nvarchar(20), @RetainDoneMs)),
          (N'retain_dead_ms', CONVERT(nvarchar(20), b.RetainDeadMs), CONVERT(nvarchar(20), @RetainDeadMs)),
          (N'keep_payload', CASE b.KeepPayload WHEN 1 THEN N'true' ELSE N'false' END,
           CASE @KeepPayload WHEN 1 THEN N'true' ELSE N'false' END),
          (N'rate', COALESCE(@vOldCodeRate, N'none'), COALESCE(@vNewCodeRate, N'none')),
          (N'shared_limits', COALESCE(CONVERT(nvarchar(400), @vOldShared), N'none'), COALESCE(CONVERT(nvarchar(400), @vNewShared), N'none')),
          (N'kinds', COALESCE(@vOldKinds, N'none'), COALESCE(@vNewKinds, N'none')),
          (N'build', CONVERT(nvarchar(20), b.Build), CONVERT(nvarchar(20), @Build))) AS v (Setting, OldValue, NewValue)
        WHERE v.OldValue COLLATE Latin1_General_100_BIN2 <> v.NewValue; -- names that differ in case are others
      IF @vStatus = N'created'
        SELECT @vStoppedAt = s.StoppedAt, @vStoppedBy = s.StoppedBy, @vReason = s.Reason
        FROM Taskgate.Stop AS s WITH (ROWLOCK, HOLDLOCK) -- shared, versions or not: lock, then look; the last lock, kept to the end
        WHERE s.StopId = 1;
      IF @vStoppedAt IS NOT NULL
      BEGIN
        UPDATE d
        SET Paused = 1
        FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
        WHERE d.TaskDefinitionId = @vDefinition;
        INSERT INTO Taskgate.StoppedDefinition WITH (ROWLOCK) (TaskDefinitionId, StoppedAt, StoppedBy, Reason)
        VALUES (@vDefinition, @vNow, @vStoppedBy, @vReason);
        INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
        VALUES (@vDefinition, N'paused', N'false', N'true', N'operator', @vStoppedBy, @vReason, @vNow);
      END;
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vDefinition AS [TaskDefinitionId];
END;
