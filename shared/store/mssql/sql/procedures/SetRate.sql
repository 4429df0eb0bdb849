-- Taskgate.SetRate: an operator's rate, over the code's, or no override any more. Acts at the next claim.
-- In:     @Name; @Count 1..1000000 tasks per @PeriodMs 1000..86400000, @Burst 1..@Count at once | @Count -1: none, also when the
--         code sets one | @Count null: the code's rate again; the other two are null then; @ChangedBy (null: the login), @Reason for the audit
--         @ExpectedRate: only if this rate is in force: {"count":..,"periodMs":..,"burst":..} or none; null: any
-- Out:    Status: set | exists (it was so already) | conflict (another rate is in force: nothing was written; both are it); OldRate, NewRate: in force, {count, periodMs, burst} or null: none
--         Ready: tasks wait (a hint is due)
-- Raises: 50404 unknown definition; 50422 a value out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  TaskDefinition, RateBucket: waits for the claim that holds it
-- Isolation: rates change under the definition's row; a claim that holds the bucket's row counts by the old rate and comes first
-- Plan:   unique name, primary keys; the last entry of PK_Ready: at the first ones claims leave deleted entries
-- Once:   by value
-- Twin:   postgres/sql/functions/set_rate.sql
CREATE OR ALTER PROCEDURE Taskgate.SetRate
  @Name nvarchar(max), @Count int, @PeriodMs int, @Burst int, @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL,
  @ExpectedRate nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vDefinition int,
          @vStatus nvarchar(20), @vOld nvarchar(100), @vNew nvarchar(100), @vOldRate nvarchar(100), @vNewRate nvarchar(100), @vReady bit;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  SET @vMessage = CASE
    WHEN COALESCE(@Count, -1) <> -1 THEN Taskgate._RateProblem(@Count, @PeriodMs, @Burst)
    WHEN @PeriodMs IS NOT NULL THEN N'rate_period_ms: expected null without a rate (' + CONVERT(nvarchar(20), @PeriodMs) + N')'
    WHEN @Burst IS NOT NULL THEN N'rate_burst: expected null without a rate (' + CONVERT(nvarchar(20), @Burst) + N')' END;
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  -- An enqueue that is open at that end isn't waited for: it leaves its own hint.
  SET @vReady = Taskgate._HasReady(@vDefinition);
  BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE d
    SET HoldLockTaskExecutionId = 0
    FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
    WHERE d.TaskDefinitionId = @vDefinition;
    IF @ExpectedRate IS NOT NULL
    BEGIN
      SELECT @vOldRate = COALESCE(Taskgate._RateText(b.RateCountOverride, b.RatePeriodMsOverride, b.RateBurstOverride),
               Taskgate._RateText(b.RateCount, b.RatePeriodMs, b.RateBurst))
      FROM Taskgate.RateBucket AS b WITH (ROWLOCK, UPDLOCK, INDEX (PK_RateBucket)) -- the row as it is now, kept to the end
      WHERE b.TaskDefinitionId = @vDefinition;
      IF COALESCE(@vOldRate, N'none') COLLATE Latin1_General_100_BIN2 <> @ExpectedRate
        SELECT @vStatus = N'conflict', @vOldRate = NULLIF(@vOldRate, N'none');
    END;
    IF @vStatus IS NULL
    BEGIN
      EXEC Taskgate._ChangeRate @TaskDefinitionId = @vDefinition, @IsOverride = 1, @Count = @Count, @PeriodMs = @PeriodMs,
        @Burst = @Burst, @oOld = @vOld OUTPUT, @oNew = @vNew OUTPUT, @oOldRate = @vOldRate OUTPUT, @oNewRate = @vNewRate OUTPUT;
      SET @vStatus = CASE WHEN COALESCE(@vOld, N'') <> COALESCE(@vNew, N'') THEN N'set' ELSE N'exists' END;
    END;
    ELSE SELECT @vNewRate = @vOldRate, @vReady = 0;
    IF @vStatus = N'set'
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (@vDefinition, N'rate_override', @vOld, @vNew, N'operator', @ChangedBy, @Reason, @vNow);
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vOldRate AS [OldRate], @vNewRate AS [NewRate], @vReady AS [Ready];
END;
