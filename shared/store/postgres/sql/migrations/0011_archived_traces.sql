-- 0011_archived_traces: the trace that a task was enqueued in, also of tasks that have ended.
-- Duration: milliseconds: columns without a default. Locks: for that time the archive can't be read. Old code beside it: the functions alone
-- know it; tasks that ended before have none.
-- Twin: mssql/sql/migrations/0011_archived_traces.sql

alter table taskgate.archive add column trace_parent text;
-- As the other lists: same length as task_ids, or null: no task of the pack had one.
alter table taskgate.archive_pack add column trace_parents text[];
alter table taskgate.archive_pack alter column trace_parents set storage external;
