-- Taskgate._KeyLock: the name of the application lock that stands for one key, whether there is a row of it or not.
-- In:     @Kind: operation | dedupe | group | promotion | watermark | app; @Scope int: of a key or watermark the definition's id, of a group it or
--         0, of an operation or app null; @Key nvarchar(200): of a promotion or app N''
-- Out:    nvarchar(255), at most 231 characters: the server would truncate a longer name. Names are compared bit by bit, as keys are
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   none: see _LockKeys
CREATE OR ALTER FUNCTION Taskgate._KeyLock (@Kind nvarchar(20), @Scope int, @Key nvarchar(200))
RETURNS nvarchar(255)
AS
BEGIN
  RETURN (SELECT n.Name FROM Taskgate._KeyLockOf(@Kind, @Scope, @Key) AS n);
END;
