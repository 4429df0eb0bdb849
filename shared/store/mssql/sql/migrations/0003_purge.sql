-- 0003_purge: dedupe keys are found by the end of their window.
-- Duration: one read of Dedupe. Locks: writers of Dedupe wait for that long. Old code beside it: runs on.
-- Twin: postgres/sql/migrations/0003_purge.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON; -- a filtered index asks for both
GO
CREATE NONCLUSTERED INDEX IX_Dedupe_Expires ON Taskgate.Dedupe (ExpiresAt) WHERE ExpiresAt IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
