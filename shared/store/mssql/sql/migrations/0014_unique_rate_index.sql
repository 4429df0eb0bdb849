-- 0014_unique_rate_index: the second index of RateBucket is unique, as its key is. Azure SQL's automatic tuning drops an index that has the
-- key of another one, unless it is unique; every claim names this one (error 308).
-- https://learn.microsoft.com/azure/azure-sql/database/automatic-tuning-overview
-- Duration: milliseconds: a row per definition with a rate. Locks: for that time no task of such a definition starts. Old code beside it:
-- sees no difference.
-- Twin: postgres/sql/migrations/0014_unique_rate_index.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE UNIQUE NONCLUSTERED INDEX IX_RateBucket_Definition ON Taskgate.RateBucket (TaskDefinitionId)
  WITH (ALLOW_PAGE_LOCKS = OFF, DROP_EXISTING = ON);
GO
