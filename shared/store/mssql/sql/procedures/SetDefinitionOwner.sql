-- Taskgate.SetDefinitionOwner: an operator hands a definition over to another app, or releases it.
-- In:     @Name; @App 1..200 characters without leading or trailing blanks, which needn't be registered yet | null: no app, until one
--         registers it; @ChangedBy (null: the login), @Reason for the audit; @ExpectedApp: only if it belongs to this app, '': to none; null: to any
-- Out:    Status: set | exists (it was so already) | conflict (it belongs to another app: nothing was written; both are it);
--         OldApp, NewApp, null: none
-- Raises: 50404 unknown definition; 50422 a value out of range; 50423 a registration takes longer than 2 s; 50490 inside a transaction;
--         1222 locked for longer than 2 s
-- Locks:  the key of all apps as _LockKeys; DefinitionOwner
-- Isolation: no app registers anything meanwhile
-- Plan:   unique name, primary key
-- Once:   by value
-- Twin:   postgres/sql/functions/set_definition_owner.sql
CREATE OR ALTER PROCEDURE Taskgate.SetDefinitionOwner
  @Name nvarchar(max), @App nvarchar(max), @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL,
  @ExpectedApp nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vName nvarchar(200), @vDefinition int,
          @vStatus nvarchar(20) = N'exists', @vOld nvarchar(200), @vNew nvarchar(200), @vMissed nvarchar(max);
  DECLARE @vLock Taskgate.KeyLockList;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  IF @App IS NOT NULL SET @vMessage = Taskgate._AppProblem(@App);
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  SET @vNew = @App;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  SET @vName = @Name;
  BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'app', NULL, N''));
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look: kept to the end
    SELECT @vOld = o.App FROM Taskgate.DefinitionOwner AS o WHERE o.Name = @vName;
    IF COALESCE(@vOld, N'') COLLATE Latin1_General_100_BIN2 <> @ExpectedApp -- unknown where it may belong to any
      SELECT @vStatus = N'conflict', @vNew = @vOld;
    ELSE IF COALESCE(@vOld, N'') COLLATE Latin1_General_100_BIN2 <> COALESCE(@vNew, N'')
    BEGIN
      SET @vStatus = N'set';
      DELETE FROM o
      FROM Taskgate.DefinitionOwner AS o WITH (ROWLOCK) -- one row; no other call writes it meanwhile
      WHERE o.Name = @vName;
      IF @vNew IS NOT NULL INSERT INTO Taskgate.DefinitionOwner (Name, App) VALUES (@vName, @vNew);
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (@vDefinition, N'owner', @vOld, @vNew, N'operator', @ChangedBy, @Reason, @vNow);
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vOld AS [OldApp], @vNew AS [NewApp];
END;
