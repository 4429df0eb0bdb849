-- 0003_scheduled_by_task: where a scheduled task stands, by its id.
-- Duration: reads the scheduled tasks once, about a second per million. Locks: while that lasts nothing is scheduled or promoted. Old code
-- beside it: the functions alone know it.
-- Twin: mssql/sql/migrations/0003_scheduled_by_task.sql

-- Replace, cancel, reschedule and explain read one entry.
create index ix_scheduled_task on taskgate.scheduled (task_id);
