-- 0004_waiting_by_definition: which tasks of a definition wait for their groups.
-- Duration: reads the waiting tasks once, about a second per million. Locks: while that lasts no task begins or ends to wait. Old code
-- beside it: the procedures alone know it.
-- Twin: postgres/sql/migrations/0004_waiting_by_definition.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- A count of them stops at 10,000, whatever else waits.
CREATE NONCLUSTERED INDEX IX_GroupWaiting_Definition ON Taskgate.GroupWaiting (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
