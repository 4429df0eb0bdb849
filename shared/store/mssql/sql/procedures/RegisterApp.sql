-- Taskgate.RegisterApp: an app says which definitions are its own and where its hints go. What belongs to another app stays so.
-- In:     @App 1..200 characters without leading or trailing blanks; @Definitions: JSON array of at most 1000 names of definitions, which
--         may be registered later; @Address: JSON object of at most 2000 characters, or null: not known
-- Out:    Status: registered (something is new) | exists; Refused: JSON array, by name, of {name, app: its owner}: of @Definitions those
--           that belong to other apps
-- Raises: 50422 a value out of range; 50423 another registration takes longer than 2 s; 50490 inside a transaction;
--         1222 locked for longer than 2 s
-- Locks:  the key of all apps as _LockKeys; App, DefinitionOwner: own new rows, and the app's row
-- Isolation: registrations that have something new come one after the other; the others write nothing
-- Plan:   primary keys; joins are loops in the written order
-- Once:   by value
-- Twin:   postgres/sql/functions/register_app.sql
CREATE OR ALTER PROCEDURE Taskgate.RegisterApp
  @App nvarchar(max), @Definitions nvarchar(max), @Address nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vApp nvarchar(200), @vAddress nvarchar(2000), @vCount int, @vBad int,
          @vStatus nvarchar(20) = N'exists', @vMissed nvarchar(max), @vRefused nvarchar(max);
  DECLARE @vName TABLE (Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vLock Taskgate.KeyLockList;

  SET @vMessage = Taskgate._AppProblem(@App);
  IF @vMessage IS NULL AND Taskgate._JsonKind(@Definitions) = N'['
    SELECT @vCount = COUNT(*),
           @vBad = COALESCE(SUM(CASE WHEN j.[type] <> 1 OR DATALENGTH(j.[value]) NOT BETWEEN 2 AND 400
             OR DATALENGTH(j.[value]) <> DATALENGTH(LTRIM(RTRIM(j.[value]))) THEN 1 ELSE 0 END), 0)
    FROM OPENJSON(@Definitions) AS j;
  IF @vMessage IS NULL
    SET @vMessage = CASE
      WHEN @vCount IS NULL
        THEN N'definitions: expected a JSON array of names (' + COALESCE(REPLACE(LEFT(@Definitions, 160), N'%', N'%%'), N'null') + N')'
      WHEN @vCount > 1000 THEN N'definitions: expected at most 1000 names (' + CONVERT(nvarchar(11), @vCount) + N')'
      WHEN @vBad > 0
        THEN N'definitions: expected names of 1..200 characters without blanks at either end ('
          + REPLACE(LEFT(@Definitions, 160), N'%', N'%%') + N')'
      WHEN @Address IS NOT NULL AND (COALESCE(Taskgate._JsonKind(@Address), N'') <> N'{' OR DATALENGTH(@Address) > 4000)
        THEN N'address: expected a JSON object of at most 2000 characters (' + REPLACE(LEFT(@Address, 160), N'%', N'%%') + N')' END;
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  SET @vApp = @App;
  SET @vAddress = @Address;
  INSERT INTO @vName (Name) SELECT DISTINCT CONVERT(nvarchar(200), j.[value]) COLLATE Latin1_General_100_BIN2 FROM OPENJSON(@Definitions) AS j;

  BEGIN TRY
    SELECT @vCount = COUNT(*)
    FROM @vName AS n
    WHERE NOT EXISTS (SELECT 1 FROM Taskgate.DefinitionOwner AS o WHERE o.Name = n.Name)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per name
    IF @vCount > 0
      OR NOT EXISTS (
        SELECT 1 FROM Taskgate.App AS a
        WHERE a.Name = @vApp AND (a.Address = @vAddress OR (a.Address IS NULL AND @vAddress IS NULL)))
    BEGIN
      SET @vStatus = N'registered';
      BEGIN TRANSACTION;
      INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'app', NULL, N''));
      EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look: kept to the end
      UPDATE a
      SET Address = @vAddress, RegisteredAt = @vNow
      FROM Taskgate.App AS a WITH (ROWLOCK) -- one row; no other call writes it meanwhile
      WHERE a.Name = @vApp;
      IF @@ROWCOUNT = 0 INSERT INTO Taskgate.App (Name, Address, RegisteredAt) VALUES (@vApp, @vAddress, @vNow);
      INSERT INTO Taskgate.DefinitionOwner (Name, App)
      SELECT n.Name, @vApp FROM @vName AS n
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.DefinitionOwner AS o WHERE o.Name = n.Name)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per name
      COMMIT TRANSACTION;
    END;
    SELECT @vRefused = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"name":"') COLLATE Latin1_General_100_BIN2
             + STRING_ESCAPE(o.Name, 'json') + N'","app":"' + STRING_ESCAPE(o.App, 'json') + N'"}', N',') WITHIN GROUP (ORDER BY o.Name) + N']'
    FROM @vName AS n
    INNER JOIN Taskgate.DefinitionOwner AS o ON o.Name = n.Name
    WHERE o.App <> @vApp
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per name
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], COALESCE(@vRefused, N'[]') AS [Refused];
END;
