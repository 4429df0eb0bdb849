-- 0012_kinds: what the code says of a kind's tasks, so that it holds whoever enqueues them.
-- Duration: milliseconds: an empty table. Locks: none that anybody else can hold. Old code beside it: runs on, and registers no rules.
-- Twin: postgres/sql/migrations/0012_kinds.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- A kind without rules has no row. Either a path into the payload gives the group's key, or a function in the code does: then callers
-- without the code must say the group.
CREATE TABLE Taskgate.TaskKind (
  TaskDefinitionId int NOT NULL,
  Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  GroupBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  IsGroupComputed bit NOT NULL,
  Priority smallint NULL,
  RunInMs bigint NULL,
  DedupeBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  DedupeMs bigint NULL,
  CONSTRAINT PK_TaskKind PRIMARY KEY CLUSTERED (TaskDefinitionId, Kind));
GO
