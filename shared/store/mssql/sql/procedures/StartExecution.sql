-- Taskgate.StartExecution: opens an execution of a worker for one definition, with its first tokens. No token: no execution.
-- In:     @Name; @OperationId uniqueidentifier: a repeat answers the first call's execution; @Worker 1..200 characters;
--         @Build, @SettingsHash: of the asking code, null hash: don't compare; @Want int 1..1000 tokens;
--         @NeedsReady: answer `none` at once when no task is ready or due, and ask for no more tokens than tasks wait.
--           0: the grant is the start itself, so it takes a permit of the rate, too (with_tokens); claims take theirs in Work
-- Out:    Status: started | limited | paused | none | unknown (register first) | outdated (register, then ask again);
--         TaskExecutionId; LeaseMs: how long from now; Tokens: granted; TokenFence; PrefetchMax; Ready: tasks ready,
--         counted up to @Want; RetryInMs: when limited, by tokens or by the rate; NextDueMs: until the next scheduled task, when none;
--         DeadHolders: call ReclaimExpired when > 0; Demand: noted: holders were asked for a token: retry soon
--           | others: the free tokens were given for others, and this worker holds some: hand the hint on | null
-- Raises: 50409 the operation id belongs to an execution of another definition; 50422 want or worker out of range;
--         50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  SharedLimit, TaskDefinition, TaskExecution (own new row; dead holders, by skip), Token, RateBucket by skip; then, after the commit, TokenDemand, SharedTokenDemand by skip
-- Isolation: a repeat names the same definition, so it waits for the first call at that row and then finds its execution:
--         no lock on the place of a missing operation id, which would hold up starts of other definitions. A start of another one
--         with the same id, not yet committed, is met by the insert, which waits for its end
-- Plan:   unique name, primary keys; a denial is one read without lock; it writes at most once a second per limit.
--         Ready and due tasks are counted from the last entries on: claims and promotions leave deleted ones at the first
-- Once:   by operation id
-- Twin:   postgres/sql/functions/start_execution.sql
CREATE OR ALTER PROCEDURE Taskgate.StartExecution
  @Name nvarchar(max), @OperationId uniqueidentifier, @Worker nvarchar(max), @Build bigint, @SettingsHash nvarchar(64), @Want int,
  @NeedsReady bit
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  -- The clock before any wait: a late grant has a shorter lease, never a longer one.
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vName nvarchar(200), @vStatus nvarchar(20),
          @vDefinition int, @vIsOutdated bit, @vLeaseMs int, @vPrefetchMax smallint, @vTokenFence bigint,
          @vExecution bigint, @vOther int, @vTokens int = 0, @vReady int = 0, @vDue int, @vWish int,
          @vRetryInMs bigint, @vNextDueMs bigint, @vDead int = 0, @vIsRepeat bit = 0,
          @vPaused bit, @vIgnored nvarchar(20), @vHasRate bit, @vShared nvarchar(max), @vAllowed int = 1, @vFrom datetime2(6), @vIntervalUs bigint,
          @vWorker nvarchar(200), @vDemand nvarchar(20), @vMine int, @vNoted bit;
  DECLARE @vNew TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);

  IF @Want IS NULL OR @Want NOT BETWEEN 1 AND 1000
  BEGIN
    SET @vMessage = N'want: expected 1..1000 (' + COALESCE(CONVERT(nvarchar(11), @Want), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF @Worker IS NULL OR DATALENGTH(@Worker) NOT BETWEEN 2 AND 400
  BEGIN
    SET @vMessage = N'worker: expected 1..200 characters (' + COALESCE(REPLACE(LEFT(@Worker, 220), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  SET @vWorker = @Worker;
  -- A name that is too long or ends in blanks matches no row; a comparison would truncate it.
  IF DATALENGTH(@Name) <= 400 AND DATALENGTH(@Name) = DATALENGTH(RTRIM(@Name)) SET @vName = @Name;

  BEGIN TRY
    SELECT @vDefinition = d.TaskDefinitionId, @vLeaseMs = d.LeaseMs, @vPrefetchMax = d.PrefetchMax,
           @vShared = Taskgate._SharedIds(d.TaskDefinitionId),
           @vHasRate = CASE WHEN @NeedsReady = 0 AND EXISTS (
             SELECT 1 FROM Taskgate.RateBucket AS b WITH (INDEX (IX_RateBucket_Definition)) -- not the row: a claim may hold it
             WHERE b.TaskDefinitionId = d.TaskDefinitionId) THEN 1 ELSE 0 END,
           @vIsOutdated = CASE WHEN @SettingsHash IS NOT NULL
             AND (d.Build < @Build OR (d.Build = @Build AND d.SettingsHash <> @SettingsHash)) THEN 1 ELSE 0 END
    FROM Taskgate.TaskDefinition AS d
    WHERE d.Name = @vName;
    IF @vDefinition IS NULL SET @vStatus = N'unknown';
    ELSE IF @vIsOutdated = 1 SET @vStatus = N'outdated';
    IF @vStatus IS NOT NULL
    BEGIN
      SET @vLeaseMs = NULL;
      SET @vPrefetchMax = NULL;
    END;

    -- 1. Without a lock: a repeat, nothing to do, no token to be had.
    IF @vStatus IS NULL AND EXISTS (SELECT 1 FROM Taskgate.TaskExecution AS e WHERE e.OperationId = @OperationId) SET @vIsRepeat = 1;
    IF @vStatus IS NULL AND @vIsRepeat = 0
    BEGIN
      SELECT @vReady = COUNT(*)
      FROM (SELECT TOP (@Want) r.TaskId
            FROM Taskgate.Ready AS r WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- the last entries; versions or not, no wait
            WHERE r.TaskDefinitionId = @vDefinition
            ORDER BY r.Priority DESC, r.Rank DESC, r.TaskId DESC) AS c;
      IF @NeedsReady = 1 AND @vReady < @Want
      BEGIN
        SELECT @vDue = COUNT(*)
        FROM (SELECT TOP (@Want - @vReady) s.TaskId
              FROM Taskgate.Scheduled AS s WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- as above
              WHERE s.TaskDefinitionId = @vDefinition AND s.RunAt <= @vNow
              ORDER BY s.RunAt DESC) AS c;
        SET @vReady = @vReady + @vDue;
        IF @vReady = 0
        BEGIN
          SET @vStatus = N'none';
          SET @vNextDueMs = Taskgate._NextDueFrom(@vDefinition, @vNow); -- none is due
        END;
      END;
      IF @vStatus IS NULL
        EXEC Taskgate._DenyEarly @TaskDefinitionId = @vDefinition, @Worker = @vWorker, @oStatus = @vStatus OUTPUT, @oRetryInMs = @vRetryInMs OUTPUT,
          @oDemand = @vDemand OUTPUT, @oMine = @vMine OUTPUT, @IsFirst = 1;
      IF @vStatus IS NULL SET @vRetryInMs = NULL;
    END;

    -- 2. The definition's row first, then the execution, then its tokens.
    IF @vStatus IS NULL AND @vIsRepeat = 0
    BEGIN
      SET @vWish = CASE WHEN @NeedsReady = 1 AND @vReady < @Want THEN @vReady ELSE @Want END;
      BEGIN TRANSACTION;
      IF @vShared <> N'' EXEC Taskgate._LockShared @Shared = @vShared;
      SELECT @vPaused = d.Paused
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
      WHERE d.TaskDefinitionId = @vDefinition;
      -- Own statement: the execution that was waited for is visible now.
      IF EXISTS (SELECT 1 FROM Taskgate.TaskExecution AS e WHERE e.OperationId = @OperationId)
        SET @vIsRepeat = 1;
      ELSE
      BEGIN
        INSERT INTO Taskgate.TaskExecution (OperationId, TaskDefinitionId, State, StartedAt, LeaseUntil, Worker, Build)
        OUTPUT inserted.TaskExecutionId INTO @vNew (TaskExecutionId)
        VALUES (@OperationId, @vDefinition, 1, @vNow, DATEADD(MILLISECOND, @vLeaseMs, @vNow), @vWorker,
                COALESCE(@Build, 0));
        SELECT @vExecution = n.TaskExecutionId FROM @vNew AS n;
        EXEC Taskgate._SettleTokens @TaskDefinitionId = @vDefinition, @TaskExecutionId = @vExecution, @Want = @vWish, @Shared = @vShared,
          @oOwn = @vTokens OUTPUT, @oTokenFence = @vTokenFence OUTPUT, @oPaused = @vPaused OUTPUT, @oDead = @vDead OUTPUT;
        IF @vTokens > 0 AND @vHasRate = 1
        BEGIN
          EXEC Taskgate._CountPermits @TaskDefinitionId = @vDefinition, @Want = 1, @oAllowed = @vAllowed OUTPUT,
            @oFrom = @vFrom OUTPUT, @oIntervalUs = @vIntervalUs OUTPUT, @oRetryInMs = @vRetryInMs OUTPUT;
          IF @vAllowed = 1
            EXEC Taskgate._UsePermits @TaskDefinitionId = @vDefinition, @Count = 1, @From = @vFrom, @IntervalUs = @vIntervalUs;
          ELSE -- no start: the tokens go back as if they had never been granted
          BEGIN
            EXEC Taskgate._SettleTokens @TaskDefinitionId = @vDefinition, @TaskExecutionId = @vExecution, @Keep = 0, @Shared = @vShared,
              @oOwn = @vTokens OUTPUT;
            SET @vTokenFence = NULL;
          END;
        END;
        IF @vTokens > 0
          SET @vStatus = N'started';
        ELSE
        BEGIN
          DELETE FROM e
          FROM Taskgate.TaskExecution AS e WITH (ROWLOCK) -- one row, made above
          WHERE e.TaskExecutionId = @vExecution;
          SET @vExecution = NULL;
          SET @vStatus = CASE WHEN @vPaused = 1 THEN N'paused' ELSE N'limited' END;
        END;
      END;
      COMMIT TRANSACTION;
      -- Nothing is locked any more.
      IF @vAllowed = 1 AND @vStatus IN (N'paused', N'limited')
        EXEC Taskgate._DenyEarly @TaskDefinitionId = @vDefinition, @Worker = @vWorker, @oStatus = @vIgnored OUTPUT, @oRetryInMs = @vRetryInMs OUTPUT,
          @oDemand = @vDemand OUTPUT, @oMine = @vMine OUTPUT;
    END;
    -- A process that holds some is no newcomer: what it got would come from itself.
    IF @vStatus = N'limited' AND @vAllowed = 1 AND @vMine = 0
    BEGIN
      EXEC Taskgate._NoteDemand @TaskDefinitionId = @vDefinition, @Worker = @vWorker, @Shared = @vShared, @oNoted = @vNoted OUTPUT;
      IF @vNoted = 1 SET @vDemand = N'noted';
    END;

    IF @vIsRepeat = 1
    BEGIN
      -- The first answer, with the lease renewed from now, as it says.
      SELECT @vExecution = e.TaskExecutionId, @vOther = e.TaskDefinitionId
      FROM Taskgate.TaskExecution AS e
      WHERE e.OperationId = @OperationId;
      IF @vOther <> @vDefinition
      BEGIN
        SET @vMessage = N'operation_id: belongs to an execution of another definition ('
          + LOWER(CONVERT(nchar(36), @OperationId)) + N')';
        THROW 50409, @vMessage, 1;
      END;
      UPDATE e
      SET LeaseUntil = CASE WHEN e.LeaseUntil > DATEADD(MILLISECOND, @vLeaseMs, @vNow) THEN e.LeaseUntil
                            ELSE DATEADD(MILLISECOND, @vLeaseMs, @vNow) END, -- a heartbeat may have come between
          @vTokens = e.TokenCount
      FROM Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK) -- tests the row as it is after a wait
      WHERE e.TaskExecutionId = @vExecution AND e.State = 1;
      IF @vTokens > 0
      BEGIN
        SET @vStatus = N'started';
        SET @vReady = 1;
        SELECT @vTokenFence = d.TokenFence FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = @vDefinition;
      END;
      ELSE
      BEGIN
        SET @vStatus = N'limited';
        SET @vExecution = NULL;
      END;
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF ERROR_NUMBER() = 2627 -- nothing else here has a key that is given: the id went to another definition's start meanwhile
    BEGIN
      SET @vMessage = N'operation_id: belongs to an execution of another definition ('
        + LOWER(CONVERT(nchar(36), @OperationId)) + N')';
      THROW 50409, @vMessage, 1;
    END;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vExecution AS [TaskExecutionId], @vLeaseMs AS [LeaseMs], @vTokens AS [Tokens],
         @vTokenFence AS [TokenFence], @vPrefetchMax AS [PrefetchMax], @vReady AS [Ready], @vRetryInMs AS [RetryInMs],
         @vNextDueMs AS [NextDueMs], @vDead AS [DeadHolders], CASE @vStatus WHEN N'limited' THEN @vDemand END AS [Demand];
END;
