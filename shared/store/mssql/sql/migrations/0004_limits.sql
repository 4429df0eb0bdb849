-- 0004_limits: what rates and shared limits need besides their tables.
-- Duration: milliseconds: the tables are small. Locks: writers of the two tables wait for that long. Old code beside it: runs on.
-- Twin: postgres/sql/migrations/0004_limits.sql
CREATE NONCLUSTERED INDEX IX_TaskDefinitionSharedLimit_SharedLimit ON Taskgate.TaskDefinitionSharedLimit (SharedLimitId, TaskDefinitionId)
  WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- Says which definitions have a rate without the rows that claims hold: no claim changes this key.
CREATE NONCLUSTERED INDEX IX_RateBucket_Definition ON Taskgate.RateBucket (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
