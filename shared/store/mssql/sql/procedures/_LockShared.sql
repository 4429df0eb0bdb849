-- Taskgate._LockShared: locks rows of shared limits until the end of the transaction, before any definition's.
-- In:     @Shared: ids joined by commas
-- Out:    -
-- Raises: -
-- Locks:  SharedLimit ascending. Joins the caller's transaction
-- Isolation: a call that changes a shared limit's tokens holds its row; waiters in order of arrival
-- Plan:   primary key, one row per statement: the order doesn't depend on a plan
-- Twin:   postgres/sql/functions/_lock_shared.sql
CREATE OR ALTER PROCEDURE Taskgate._LockShared
  @Shared nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vId int;
  SELECT @vId = MIN(CONVERT(int, j.[value])) FROM OPENJSON(N'[' + @Shared + N']') AS j;
  WHILE @vId IS NOT NULL
  BEGIN
    UPDATE s
    SET HoldLockTaskExecutionId = 0
    FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
    WHERE s.SharedLimitId = @vId;
    SELECT @vId = MIN(CONVERT(int, j.[value])) FROM OPENJSON(N'[' + @Shared + N']') AS j WHERE CONVERT(int, j.[value]) > @vId;
  END;
END;
