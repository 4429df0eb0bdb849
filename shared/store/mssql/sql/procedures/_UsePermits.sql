-- Taskgate._UsePermits: tasks have started on a definition's rate.
-- In:     @TaskDefinitionId int; @Count int: really started; @From, @IntervalUs: as _CountPermits gave them, null: no rate
-- Out:    -
-- Raises: -
-- Locks:  RateBucket, held since _CountPermits. Joins the caller's transaction
-- Isolation: the row is ours since _CountPermits
-- Plan:   primary key
-- Twin:   postgres/sql/functions/_use_permits.sql
CREATE OR ALTER PROCEDURE Taskgate._UsePermits
  @TaskDefinitionId int, @Count int, @From datetime2(6), @IntervalUs bigint
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  IF @Count * @IntervalUs > 0 -- in two steps: as a number of microseconds it may be too great for an int
    UPDATE b
    SET NextFreeAt = DATEADD(MICROSECOND, CONVERT(int, @Count * @IntervalUs % 1000000),
                             DATEADD(SECOND, CONVERT(int, @Count * @IntervalUs / 1000000), @From))
    FROM Taskgate.RateBucket AS b WITH (ROWLOCK, UPDLOCK, INDEX (PK_RateBucket)) -- the row is ours already
    WHERE b.TaskDefinitionId = @TaskDefinitionId;
END;
