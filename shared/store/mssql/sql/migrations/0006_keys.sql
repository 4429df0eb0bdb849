-- 0006_keys: what keeps one key apart from another, and what a redrive needs to know of tasks that never came in.
-- Duration: milliseconds. Locks: none that anybody else can hold. Old code beside it: runs on.
-- Twin: postgres/sql/migrations/0006_keys.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- Names of locks on keys, taken in this order.
CREATE TYPE Taskgate.KeyLockList AS TABLE (
  Name nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL,
  PRIMARY KEY CLUSTERED (Name));
GO
-- Of archived tasks that ended before they came into their group or wave. Who holds the archive's row may write it.
CREATE TABLE Taskgate.EndedEarly (
  TaskId bigint NOT NULL,
  PendingGroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, -- the group wasn't made yet
  PendingGroupIsGlobal bit NULL,
  WasBlocked bit NOT NULL,                             -- its wave didn't count it yet
  CONSTRAINT PK_EndedEarly PRIMARY KEY CLUSTERED (TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.EndedEarly SET (LOCK_ESCALATION = DISABLE);
GO
