-- Taskgate._ChangeRate: writes a definition's rate, the code's or the operator's. The used part of the old burst is used of the new
-- one: a slow rate's long pause doesn't outlive it, nor do the turns that it gave, and a new rate isn't a new burst.
-- In:     @TaskDefinitionId int; @IsOverride bit: the operator's; @Count int: null: none said, -1: none (the operator's only);
--         @PeriodMs, @Burst int
-- Out:    @oOld, @oNew: that side's, as of _RateText; @oOldRate, @oNewRate: in force, null: none
-- Raises: -
-- Locks:  RateBucket: waits for a claim that holds it; RateTurn, under it. The caller holds TaskDefinition. Joins the caller's
--         transaction
-- Isolation: only the holder of the definition's row makes, changes or deletes the row; claims move its instant, and are waited for
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_change_rate.sql
CREATE OR ALTER PROCEDURE Taskgate._ChangeRate
  @TaskDefinitionId int, @IsOverride bit, @Count int, @PeriodMs int, @Burst int,
  @oOld nvarchar(100) OUTPUT, @oNew nvarchar(100) OUTPUT, @oOldRate nvarchar(100) OUTPUT, @oNewRate nvarchar(100) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(6), @vNextFreeAt datetime2(7), @vUsed bigint, @vIntervalUs bigint, @vAheadUs bigint,
          @vOldCount int, @vOldPeriodMs int, @vCount int, @vPeriodMs int, @vBurst int,
          @vCountOverride int, @vPeriodMsOverride int, @vBurstOverride int;

  SELECT @vNextFreeAt = b.NextFreeAt, @vCount = b.RateCount, @vPeriodMs = b.RatePeriodMs, @vBurst = b.RateBurst,
         @vCountOverride = b.RateCountOverride, @vPeriodMsOverride = b.RatePeriodMsOverride, @vBurstOverride = b.RateBurstOverride
  FROM Taskgate.RateBucket AS b WITH (ROWLOCK, UPDLOCK, INDEX (PK_RateBucket)) -- the row as it is now, kept to the end
  WHERE b.TaskDefinitionId = @TaskDefinitionId;
  IF @vNextFreeAt IS NULL AND @Count IS NULL RETURN; -- no rate was set and none is: the answer stays null
  SET @vNow = SYSUTCDATETIME();
  SELECT @vOldCount = COALESCE(@vCountOverride, @vCount), @vOldPeriodMs = COALESCE(@vPeriodMsOverride, @vPeriodMs);
  SET @oNew = Taskgate._RateText(@Count, @PeriodMs, @Burst);
  SET @oOldRate = NULLIF(COALESCE(Taskgate._RateText(@vCountOverride, @vPeriodMsOverride, @vBurstOverride),
    Taskgate._RateText(@vCount, @vPeriodMs, @vBurst)), N'none');
  IF @IsOverride = 1
  BEGIN
    SET @oOld = Taskgate._RateText(@vCountOverride, @vPeriodMsOverride, @vBurstOverride);
    SET @vCountOverride = @Count;
    SET @vPeriodMsOverride = @PeriodMs;
    SET @vBurstOverride = @Burst;
  END;
  ELSE
  BEGIN
    SET @oOld = Taskgate._RateText(@vCount, @vPeriodMs, @vBurst);
    SET @vCount = @Count;
    SET @vPeriodMs = @PeriodMs;
    SET @vBurst = @Burst;
  END;
  SET @oNewRate = NULLIF(COALESCE(Taskgate._RateText(@vCountOverride, @vPeriodMsOverride, @vBurstOverride),
    Taskgate._RateText(@vCount, @vPeriodMs, @vBurst)), N'none');
  IF COALESCE(@oOldRate, N'') <> COALESCE(@oNewRate, N'')
    DELETE t
    FROM Taskgate.RateTurn AS t WITH (ROWLOCK, UPDLOCK, INDEX (PK_RateTurn)) -- the bucket's row keeps others away
    WHERE t.TaskDefinitionId = @TaskDefinitionId;
  IF COALESCE(@vCount, 0) = 0 AND @vCountOverride IS NULL
    DELETE b -- without a rate there is no cost
    FROM Taskgate.RateBucket AS b WITH (ROWLOCK, UPDLOCK, INDEX (PK_RateBucket)) -- the row is ours already
    WHERE b.TaskDefinitionId = @TaskDefinitionId;
  ELSE IF @vNextFreeAt IS NULL
    INSERT INTO Taskgate.RateBucket (
      TaskDefinitionId, RateCount, RatePeriodMs, RateBurst, RateCountOverride, RatePeriodMsOverride, RateBurstOverride, NextFreeAt)
    VALUES (@TaskDefinitionId, COALESCE(@vCount, 0), COALESCE(@vPeriodMs, 0), COALESCE(@vBurst, 0),
            @vCountOverride, @vPeriodMsOverride, @vBurstOverride, @vNow);
  ELSE
  BEGIN
    IF COALESCE(@oOldRate, N'') <> COALESCE(@oNewRate, N'')
    BEGIN
      IF @vNextFreeAt > @vNow -- an operator's none has no interval, so nothing is used of it
      BEGIN
        SET @vIntervalUs = (@vOldPeriodMs * CONVERT(bigint, 1000) + @vOldCount - 1) / NULLIF(@vOldCount, -1);
        SET @vUsed = (DATEDIFF_BIG(MICROSECOND, @vNow, @vNextFreeAt) + @vIntervalUs - 1) / @vIntervalUs;
      END;
      SET @vIntervalUs = (COALESCE(@vPeriodMsOverride, @vPeriodMs) * CONVERT(bigint, 1000) + COALESCE(@vCountOverride, @vCount) - 1)
        / NULLIF(COALESCE(@vCountOverride, @vCount), -1);
      SET @vAheadUs = COALESCE(@vIntervalUs * CASE WHEN @vUsed > COALESCE(@vBurstOverride, @vBurst)
                                                   THEN COALESCE(@vBurstOverride, @vBurst) ELSE @vUsed END, 0);
      SET @vNextFreeAt = DATEADD(MICROSECOND, CONVERT(int, @vAheadUs % 1000000),
        DATEADD(SECOND, CONVERT(int, @vAheadUs / 1000000), @vNow));
    END;
    UPDATE b
    SET RateCount = COALESCE(@vCount, 0), RatePeriodMs = COALESCE(@vPeriodMs, 0), RateBurst = COALESCE(@vBurst, 0),
        RateCountOverride = @vCountOverride, RatePeriodMsOverride = @vPeriodMsOverride, RateBurstOverride = @vBurstOverride,
        NextFreeAt = @vNextFreeAt
    FROM Taskgate.RateBucket AS b WITH (ROWLOCK, UPDLOCK, INDEX (PK_RateBucket)) -- the row is ours already
    WHERE b.TaskDefinitionId = @TaskDefinitionId;
  END;
END;
