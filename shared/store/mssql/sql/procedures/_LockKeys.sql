-- Taskgate._LockKeys: keeps keys for the caller's transaction, whether there is a row of them or not. A call waits only for an equal key.
-- In:     @Keys Taskgate.KeyLockList: their names by _KeyLock; @Waits bit: 0: keys that another transaction has are skipped
-- Out:    @oMissed: JSON array of the names passed over, '[]' when there are none
-- Raises: 50423 an equal key is locked for longer than 2 s; 50425 chosen to end a circle of waiters; 50499 the server refused
-- Locks:  an application lock per key, in the order of the names, to the end of the transaction. Joins the caller's transaction
-- Isolation: the rows of a key are read in later statements
-- Plan:   no table. One call per key: no row lock covers a row that may not exist without locking its neighbours
-- Twin:   none: an INSERT .. ON CONFLICT waits for just its key there; groups by postgres/sql/functions/_group_latch.sql
CREATE OR ALTER PROCEDURE Taskgate._LockKeys
  @Keys Taskgate.KeyLockList READONLY, @Waits bit, @oMissed nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  -- By a variable: the schema model that checks these files has none of the server's own procedures.
  DECLARE @vGetLock nvarchar(100) = N'sys.sp_getapplock', @vPatienceMs int = CASE WHEN @Waits = 1 THEN 2000 ELSE 0 END,
          @vK int = 0, @vCount int, @vName nvarchar(255), @vResult int, @vNumber int, @vMessage nvarchar(2048);
  DECLARE @vKey TABLE (K int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL);
  DECLARE @vMissed TABLE (Name nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED);

  INSERT INTO @vKey (K, Name) SELECT ROW_NUMBER() OVER (ORDER BY k.Name), k.Name FROM @Keys AS k;
  SET @vCount = @@ROWCOUNT;
  WHILE @vK < @vCount
  BEGIN
    SELECT @vK = k.K, @vName = k.Name FROM @vKey AS k WHERE k.K = @vK + 1;
    EXEC @vResult = @vGetLock @Resource = @vName, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = @vPatienceMs;
    IF @vResult = -1 AND @Waits = 0 INSERT INTO @vMissed (Name) VALUES (@vName);
    ELSE IF @vResult < 0
    BEGIN
      -- Told by a status, without an error: as if a row had been waited for.
      SET @vNumber = CASE @vResult WHEN -1 THEN 50423 WHEN -3 THEN 50425 ELSE 50499 END;
      SET @vMessage = N'key: ' + CASE @vResult WHEN -1 THEN N'locked for longer than 2 s' WHEN -3 THEN N'callers wait for each other in a circle'
          ELSE N'sp_getapplock answered ' + CONVERT(nvarchar(11), @vResult) END + N' (' + REPLACE(@vName, N'%', N'%%') + N')';
      THROW @vNumber, @vMessage, 1;
    END;
  END;
  SELECT @oMissed = N'[' + COALESCE(STRING_AGG(N'"' + STRING_ESCAPE(CONVERT(nvarchar(max), m.Name), 'json') + N'"', N','), N'') + N']'
  FROM @vMissed AS m;
END;
