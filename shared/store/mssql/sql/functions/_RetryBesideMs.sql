-- Taskgate._RetryBesideMs: when a caller asks again that met the row of a rate held by another call, and so was given nothing and no
-- turn. The holder is taken to use up the next permit, and may not: so the answer is a second at most, unless that permit itself comes
-- later. The instant is drawn over the turns that are given: callers that met come apart, and a crowd asks seldom.
-- In:     @AheadUs bigint: microseconds until the next permit, as of the last commit; below 0: so much is saved up; @IntervalUs bigint:
--           between two permits; @TurnInUs bigint: until the last turn that is given, null: none; @Lot int 0..999: drawn by the caller
-- Out:    bigint: milliseconds, 5 at least
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_retry_beside_ms.sql
CREATE OR ALTER FUNCTION Taskgate._RetryBesideMs (@AheadUs bigint, @IntervalUs bigint, @TurnInUs bigint, @Lot int)
RETURNS bigint
AS
BEGIN
  DECLARE @vLatestUs bigint = 1000000, @vLeadUs bigint = 0, @vSpreadUs bigint = 0, @vRetryInMs bigint;
  IF @AheadUs > @vLatestUs SET @vLatestUs = @AheadUs;
  IF @AheadUs + @IntervalUs > 0 SELECT @vLeadUs = @AheadUs + @IntervalUs, @vSpreadUs = @IntervalUs; -- the permit behind the next one
  IF @vLeadUs > 500000 SET @vLeadUs = CASE WHEN @AheadUs < 500000 THEN 500000 ELSE @AheadUs END;
  IF @TurnInUs > @vLeadUs SET @vSpreadUs = @vSpreadUs + @TurnInUs - @vLeadUs;
  IF @vSpreadUs < 16000 SET @vSpreadUs = 16000;
  IF @vSpreadUs > @vLatestUs - @vLeadUs SET @vSpreadUs = @vLatestUs - @vLeadUs;
  SET @vRetryInMs = 5 + (@vLeadUs + @Lot * @vSpreadUs / 1000) / 1000;
  RETURN CASE WHEN @vRetryInMs > (@vLatestUs + 999) / 1000 THEN (@vLatestUs + 999) / 1000 ELSE @vRetryInMs END;
END;
