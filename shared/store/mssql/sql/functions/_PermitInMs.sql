-- Taskgate._PermitInMs: milliseconds until a definition's rate lets another task start, as of the last commit.
-- In:     @TaskDefinitionId int; @Now datetime2(3)
-- Out:    bigint: 1 or more; 0: it lets one start now; null: no rate
-- Raises: -
-- Locks:  none
-- Plan:   primary key
-- Twin:   postgres/sql/functions/_permit_in_ms.sql
CREATE OR ALTER FUNCTION Taskgate._PermitInMs (@TaskDefinitionId int, @Now datetime2(3))
RETURNS bigint
AS
BEGIN
  RETURN (
    SELECT CASE WHEN x.WaitUs <= 0 THEN 0 ELSE (x.WaitUs + 999) / 1000 END
    FROM (
      SELECT DATEDIFF_BIG(MICROSECOND, @Now, b.NextFreeAt)
               - (COALESCE(b.RateBurstOverride, b.RateBurst) - 1)
               * ((COALESCE(b.RatePeriodMsOverride, b.RatePeriodMs) * CONVERT(bigint, 1000) + COALESCE(b.RateCountOverride, b.RateCount) - 1)
                  / NULLIF(COALESCE(b.RateCountOverride, b.RateCount), 0)) AS WaitUs
      FROM Taskgate.RateBucket AS b WITH (INDEX (PK_RateBucket)) -- the row itself
      WHERE b.TaskDefinitionId = @TaskDefinitionId AND COALESCE(b.RateCountOverride, b.RateCount) > 0) AS x);
END;
