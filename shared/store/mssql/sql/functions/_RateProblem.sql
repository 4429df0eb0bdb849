-- Taskgate._RateProblem: the error in a rate to be set.
-- In:     @Count, @PeriodMs, @Burst int
-- Out:    nvarchar(200): field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_rate_problem.sql
CREATE OR ALTER FUNCTION Taskgate._RateProblem (@Count int, @PeriodMs int, @Burst int)
RETURNS nvarchar(200)
AS
BEGIN
  RETURN CASE
    WHEN @Count IS NULL OR @Count NOT BETWEEN 1 AND 1000000
      THEN N'rate_count: expected 1..1000000 (' + COALESCE(CONVERT(nvarchar(20), @Count), N'null') + N')'
    WHEN @PeriodMs IS NULL OR @PeriodMs NOT BETWEEN 1000 AND 86400000
      THEN N'rate_period_ms: expected 1000..86400000 (' + COALESCE(CONVERT(nvarchar(20), @PeriodMs), N'null') + N')'
    WHEN @Burst IS NULL OR @Burst NOT BETWEEN 1 AND @Count
      THEN N'rate_burst: expected 1..rate_count (' + COALESCE(CONVERT(nvarchar(20), @Burst), N'null') + N')' END;
END;
