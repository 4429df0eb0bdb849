-- 0004_waiting_by_definition: which tasks of a definition wait for their groups.
-- Duration: reads the waiting tasks once, about a second per million. Locks: while that lasts no task begins or ends to wait. Old code
-- beside it: the functions alone know it.
-- Twin: mssql/sql/migrations/0004_waiting_by_definition.sql

-- A count of them stops at 10,000, whatever else waits; a list of them comes in their order without a sort. On SQL Server the columns
-- of the primary key are in the index by themselves.
create index ix_group_waiting_definition on taskgate.group_waiting (task_definition_id, group_id, priority, rank, task_id);
