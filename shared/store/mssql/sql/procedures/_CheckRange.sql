-- Taskgate._CheckRange: refuses a number that is missing or out of its range.
-- In:     @What: the parameter's name, for the error; @Value, @Least, @Most bigint
-- Out:    -
-- Raises: 50422 out of range
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_check_range.sql
CREATE OR ALTER PROCEDURE Taskgate._CheckRange
  @What nvarchar(100), @Value bigint, @Least bigint, @Most bigint
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048);
  IF @Value BETWEEN @Least AND @Most RETURN;
  SET @vMessage = @What + N': expected ' + CONVERT(nvarchar(20), @Least) + N'..' + CONVERT(nvarchar(20), @Most) + N' ('
    + COALESCE(CONVERT(nvarchar(20), @Value), N'<NULL>') + N')';
  THROW 50422, @vMessage, 1;
END;
