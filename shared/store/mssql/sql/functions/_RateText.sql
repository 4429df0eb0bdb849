-- Taskgate._RateText: a rate as answers and the audit write it.
-- In:     @Count int: null or 0: nothing is said; -1: said to have none; @PeriodMs, @Burst int
-- Out:    nvarchar(100): null | none | {"count":..,"periodMs":..,"burst":..}
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_rate_text.sql
CREATE OR ALTER FUNCTION Taskgate._RateText (@Count int, @PeriodMs int, @Burst int)
RETURNS nvarchar(100)
AS
BEGIN
  RETURN CASE
    WHEN @Count = -1 THEN N'none'
    WHEN @Count > 0 THEN N'{"count":' + CONVERT(nvarchar(11), @Count) + N',"periodMs":' + CONVERT(nvarchar(11), @PeriodMs)
      + N',"burst":' + CONVERT(nvarchar(11), @Burst) + N'}' END;
END;
