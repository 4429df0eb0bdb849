-- 0004_limits: what rates and shared limits need besides their tables.
-- Duration: milliseconds: the tables are small. Locks: writers of task_definition_shared_limit wait for that long. Old code beside it: runs on.
-- Twin: mssql/sql/migrations/0004_limits.sql
create index ix_task_definition_shared_limit_shared_limit on taskgate.task_definition_shared_limit (shared_limit_id, task_definition_id);
