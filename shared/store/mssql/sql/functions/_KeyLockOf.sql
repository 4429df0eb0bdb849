-- Taskgate._KeyLockOf: _KeyLock as a row, for statements that name many: the server writes it into them.
-- In:     @Kind, @Scope, @Key as _KeyLock has them
-- Out:    Name nvarchar(255)
-- Raises: -
-- Locks:  none
-- Plan:   no table. Its collation is told, as @Key has that of a column here and a kind alone has none
-- Twin:   none: see _LockKeys
CREATE OR ALTER FUNCTION Taskgate._KeyLockOf (@Kind nvarchar(20), @Scope int, @Key nvarchar(200))
RETURNS TABLE
AS
RETURN
  SELECT CONVERT(nvarchar(255), N'Taskgate:' + @Kind + N':' + COALESCE(CONVERT(nvarchar(11), @Scope) + N':', N'') + @Key) COLLATE Latin1_General_100_BIN2 AS Name;
