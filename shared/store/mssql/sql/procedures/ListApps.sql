-- Taskgate.ListApps: the apps with their definitions, and where their hints go.
-- In:     -
-- Out:    Status: listed; Apps: JSON array, by name, of {app, address: JSON object or null: not known, definitions: names, in order}, or []:
--           also an app that was given a definition and hasn't registered itself yet
-- Raises: 50490 inside a transaction
-- Locks:  none
-- Isolation: two reads, each as of its own moment
-- Plan:   both tables in the order of their keys: there are few rows; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_apps.sql
CREATE OR ALTER PROCEDURE Taskgate.ListApps
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vApps nvarchar(max);
  DECLARE @vApp TABLE (
    Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED, Address nvarchar(2000) NULL,
    Definitions nvarchar(max) COLLATE Latin1_General_100_BIN2 NULL);

  INSERT INTO @vApp (Name, Definitions)
  SELECT o.App, STRING_AGG(CONVERT(nvarchar(max), N'"') COLLATE Latin1_General_100_BIN2 + STRING_ESCAPE(o.Name, 'json') + N'"', N',')
           WITHIN GROUP (ORDER BY o.Name)
  FROM Taskgate.DefinitionOwner AS o WITH (INDEX (PK_DefinitionOwner)) -- all of them: there are few
  GROUP BY o.App;
  UPDATE x
  SET Address = a.Address
  FROM @vApp AS x
  INNER JOIN Taskgate.App AS a ON a.Name = x.Name
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per app
  INSERT INTO @vApp (Name, Address)
  SELECT a.Name, a.Address
  FROM Taskgate.App AS a WITH (INDEX (PK_App)) -- all of them: there are few
  WHERE NOT EXISTS (SELECT 1 FROM @vApp AS x WHERE x.Name = a.Name)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per app
  SELECT @vApps = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"app":"') COLLATE Latin1_General_100_BIN2
           + STRING_ESCAPE(x.Name, 'json') + N'","address":' + COALESCE(x.Address, N'null')
           + N',"definitions":[' + COALESCE(x.Definitions, N'') + N']}', N',') WITHIN GROUP (ORDER BY x.Name) + N']'
  FROM @vApp AS x;
  SELECT N'listed' AS [Status], COALESCE(@vApps, N'[]') AS [Apps];
END;
