-- 0011_archived_traces: the trace that a task was enqueued in, also of tasks that have ended.
-- Duration: milliseconds: no row is written. Locks: for that time the archive can't be read. Old code beside it: the procedures alone know
-- it; tasks that ended before have none.
-- Twin: postgres/sql/migrations/0011_archived_traces.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- 55 characters, which are ASCII in a W3C traceparent: half the bytes of Task's column.
ALTER TABLE Taskgate.Archive ADD
  TraceParent varchar(220) COLLATE Latin1_General_100_BIN2_UTF8 NULL;
GO
