-- 0012_due_at: since when a task may start, where that is later than its enqueue. Its age counts from then.
-- Duration: milliseconds: no row is written. Locks: for that time tasks can't be read. Old code beside it: writes none, so the age of its
-- tasks counts from their enqueue.
-- Twin: postgres/sql/migrations/0012_due_at.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- Of a delay, a reschedule or an own delay of a retry; null: CreatedAt.
ALTER TABLE Taskgate.Task ADD
  DueAt datetime2(3) NULL;
GO
