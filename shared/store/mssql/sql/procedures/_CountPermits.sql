-- Taskgate._CountPermits: how many tasks a definition's rate lets start now, as the generic cell rate algorithm counts them: one
-- instant, NextFreeAt, that every start moves on by one interval; it may be ahead of the clock by burst intervals.
-- So in any window at most burst + window / interval tasks start.
-- In:     @TaskDefinitionId int; @Want int
-- Out:    @oAllowed: 0..@Want: start so many, then call _UsePermits; @oFrom datetime2(6), @oIntervalUs bigint: for that, null when
--           no rate is in force; @oRetryInMs: when to ask again; null: no permit is missing. A crowd doesn't ask all at once for
--           the next permit: a call that is allowed nothing gets a turn behind those that were denied before, two for each permit.
--           A turn is at most 1 s from now: a worker that is told a later instant gives its tokens up. When another call holds the
--           row nothing is allowed, and no turn given; the time to ask again is as of _RetryBesideMs
-- Raises: -
-- Locks:  RateBucket by skip, kept to the end: no other call counts between this and _UsePermits; RateTurn, under it. Joins the
--         caller's transaction
-- Isolation: the clock is read with the row held, so an earlier count read an earlier time. A row that another call holds is read as
--         of the last commit, which waits for nothing; without row versions it waits for that call's end
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_count_permits.sql
CREATE OR ALTER PROCEDURE Taskgate._CountPermits
  @TaskDefinitionId int, @Want int,
  @oAllowed int OUTPUT, @oFrom datetime2(6) OUTPUT, @oIntervalUs bigint OUTPUT, @oRetryInMs bigint OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(6), @vNextFreeAt datetime2(7), @vCount int, @vPeriodMs int, @vBurst int, @vLeadUs bigint,
          @vTurnAt datetime2(6), @vPassedUs bigint, @vTurnInMs bigint, @vStepUs bigint;

  SELECT @vNextFreeAt = b.NextFreeAt, @vCount = COALESCE(b.RateCountOverride, b.RateCount),
         @vPeriodMs = CASE WHEN b.RateCountOverride IS NULL THEN b.RatePeriodMs ELSE b.RatePeriodMsOverride END,
         @vBurst = CASE WHEN b.RateCountOverride IS NULL THEN b.RateBurst ELSE b.RateBurstOverride END
  FROM Taskgate.RateBucket AS b WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_RateBucket)) -- keep it, skip another's; the row itself
  WHERE b.TaskDefinitionId = @TaskDefinitionId;
  IF @vNextFreeAt IS NULL
  BEGIN
    SELECT @vNextFreeAt = b.NextFreeAt, @vCount = COALESCE(b.RateCountOverride, b.RateCount),
           @vPeriodMs = CASE WHEN b.RateCountOverride IS NULL THEN b.RatePeriodMs ELSE b.RatePeriodMsOverride END,
           @vBurst = CASE WHEN b.RateCountOverride IS NULL THEN b.RateBurst ELSE b.RateBurstOverride END, @vTurnAt = t.TurnAt
    FROM Taskgate.RateBucket AS b -- as of the last commit: another call holds the row, or there is none
    LEFT JOIN Taskgate.RateTurn AS t ON t.TaskDefinitionId = b.TaskDefinitionId
    WHERE b.TaskDefinitionId = @TaskDefinitionId;
    IF @vCount > 0
    BEGIN
      SET @vNow = SYSUTCDATETIME();
      SET @vStepUs = (@vPeriodMs * CONVERT(bigint, 1000) + @vCount - 1) / @vCount;
      SET @vLeadUs = CASE WHEN @vNextFreeAt > @vNow THEN DATEDIFF_BIG(MICROSECOND, @vNow, @vNextFreeAt) ELSE 0 END - (@vBurst - 1) * @vStepUs;
      SET @oRetryInMs = Taskgate._RetryBesideMs(@vLeadUs, @vStepUs, DATEDIFF_BIG(MICROSECOND, @vNow, @vTurnAt), ABS(CONVERT(bigint, CHECKSUM(NEWID()))) % 1000);
      SELECT @oAllowed = 0, @oFrom = NULL, @oIntervalUs = NULL;
      RETURN;
    END;
  END;
  IF COALESCE(@vCount, 0) < 1 -- it was taken away meanwhile, there is none, or an operator said: none
  BEGIN
    SELECT @oAllowed = @Want, @oFrom = NULL, @oIntervalUs = NULL, @oRetryInMs = NULL;
    RETURN;
  END;
  SET @vNow = SYSUTCDATETIME(); -- apart: the clock of one statement stands still from before it has the row
  SELECT @oFrom = f.FromAt, @oIntervalUs = f.IntervalUs, @vLeadUs = l.LeadUs, @oRetryInMs = NULL,
         @oAllowed = CASE WHEN n.Free < 0 THEN 0 WHEN n.Free < @Want THEN n.Free ELSE @Want END
  FROM (
    SELECT CONVERT(datetime2(6), CASE WHEN @vNextFreeAt > @vNow THEN @vNextFreeAt ELSE @vNow END) AS FromAt,
           (@vPeriodMs * CONVERT(bigint, 1000) + @vCount - 1) / @vCount AS IntervalUs) AS f -- rounded up: never faster than asked for
  CROSS APPLY (SELECT DATEDIFF_BIG(MICROSECOND, @vNow, f.FromAt) AS LeadUs) AS l
  CROSS APPLY (SELECT @vBurst - (l.LeadUs + f.IntervalUs - 1) / f.IntervalUs AS Free) AS n;
  IF @oAllowed = @Want RETURN;
  SET @vLeadUs = @vLeadUs - (@vBurst - 1 - @oAllowed) * @oIntervalUs; -- until the next permit
  SET @oRetryInMs = (@vLeadUs + 999) / 1000;
  -- Who comes shortly before a permit has its turn: the permit before was taken late, and moved this one.
  IF @oAllowed > 0 OR 6 * @vLeadUs <= @oIntervalUs RETURN;
  SELECT @vTurnAt = t.TurnAt
  FROM Taskgate.RateTurn AS t -- the bucket's row keeps others away
  WHERE t.TaskDefinitionId = @TaskDefinitionId;
  -- Turns that are given already, from the next permit on. In two steps: as a number of microseconds it may be too great for an int.
  SET @vPassedUs = CASE WHEN DATEDIFF_BIG(MICROSECOND, @vNow, @vTurnAt) > @vLeadUs THEN DATEDIFF_BIG(MICROSECOND, @vNow, @vTurnAt) - @vLeadUs ELSE 0 END;
  SET @vTurnInMs = (@vLeadUs + @vPassedUs + 999) / 1000;
  IF @vTurnInMs > 1000 AND @vTurnInMs > @oRetryInMs
  BEGIN
    IF @oRetryInMs < 1000 SET @oRetryInMs = 1000;
    RETURN;
  END;
  SET @oRetryInMs = @vTurnInMs;
  SET @vStepUs = @vLeadUs + @vPassedUs + (@oIntervalUs + 1) / 2;
  SET @vNow = DATEADD(MICROSECOND, CONVERT(int, @vStepUs % 1000000), DATEADD(SECOND, CONVERT(int, @vStepUs / 1000000), @vNow));
  IF @vTurnAt IS NULL
    INSERT INTO Taskgate.RateTurn (TaskDefinitionId, TurnAt) VALUES (@TaskDefinitionId, @vNow);
  ELSE
    UPDATE t
    SET TurnAt = @vNow
    FROM Taskgate.RateTurn AS t WITH (ROWLOCK, UPDLOCK) -- the row is ours already
    WHERE t.TaskDefinitionId = @TaskDefinitionId;
END;
