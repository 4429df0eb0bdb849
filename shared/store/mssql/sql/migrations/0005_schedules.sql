-- 0005_schedules: what schedules need besides their table, and what enqueues hand over that replace payloads.
-- Duration: milliseconds. Locks: none that anybody else can hold. Old code beside it: runs on, and fires nothing.
-- Twin: postgres/sql/migrations/0005_schedules.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- The group that a schedule's tasks join; no row: none. Written under the schedule's row lock only.
CREATE TABLE Taskgate.ScheduleGroup (
  ScheduleId int NOT NULL,
  GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  CONSTRAINT PK_ScheduleGroup PRIMARY KEY CLUSTERED (ScheduleId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TYPE Taskgate.ReplacementList AS TABLE (
  TaskId bigint NOT NULL,
  Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  TraceParent nvarchar(55) NULL,
  Payload nvarchar(max) NULL,
  PRIMARY KEY CLUSTERED (TaskId));
GO
