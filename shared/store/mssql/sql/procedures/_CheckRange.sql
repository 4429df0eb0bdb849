-- Taskgate._CheckRange: refuses a number that is missing or out of its range.
-- In:     @What: the parameter's name, for the error; @Value, @Min, @Max bigint
-- Out:    -
-- Raises: 50422 out of range
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_check_range.sql
CREATE OR ALTER PROCEDURE Taskgate._CheckRange
  @What nvarchar(100), @Value bigint, @Min bigint, @Max bigint
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048);
  IF @Value BETWEEN @Min AND @Max RETURN;
  SET @vMessage = @What + N': expected ' + CONVERT(nvarchar(20), @Min) + N'..' + CONVERT(nvarchar(20), @Max) + N' ('
    + COALESCE(CONVERT(nvarchar(20), @Value), N'<NULL>') + N')';
  THROW 50422, @vMessage, 1;
END;
