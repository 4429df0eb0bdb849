-- 0003_scheduled_by_task: where a scheduled task stands, by its id.
-- Duration: reads the scheduled tasks once, about a second per million. Locks: while that lasts nothing is scheduled or promoted. Old code
-- beside it: the procedures alone know it.
-- Twin: postgres/sql/migrations/0003_scheduled_by_task.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- The instant is in its key, as in that of each index beside a clustered one: replace, cancel, reschedule and explain read one row.
CREATE NONCLUSTERED INDEX IX_Scheduled_Task ON Taskgate.Scheduled (TaskId) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
