-- 0012_due_at: since when a task may start, where that is later than its enqueue. Its age counts from then.
-- Duration: milliseconds: a column without a default. Locks: for that time tasks can't be read. Old code beside it: writes none, so the
-- age of its tasks counts from their enqueue.
-- Twin: mssql/sql/migrations/0012_due_at.sql

alter table taskgate.task add column due_at timestamptz;   -- of a delay, a reschedule or an own delay of a retry; null: created_at
