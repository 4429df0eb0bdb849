-- 0013_apps: which app runs the tasks of a definition, and where an app's hints go.
-- Duration: milliseconds: two empty tables. Locks: none that another caller can hold. Old code beside it: runs on, and owns no definition.
-- Twin: postgres/sql/migrations/0013_apps.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE TABLE Taskgate.App (
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Address nvarchar(2000) COLLATE Latin1_General_100_BIN2 NULL, -- JSON object: queue of its hints, schedule of its sweep; no secret; null: not known
  RegisteredAt datetime2(3) NOT NULL,
  CONSTRAINT PK_App PRIMARY KEY CLUSTERED (Name));
GO
-- By name: an app names its definitions before it registers them. A definition without a row belongs to no app.
CREATE TABLE Taskgate.DefinitionOwner (
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  App nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  CONSTRAINT PK_DefinitionOwner PRIMARY KEY CLUSTERED (Name));
GO
