-- 0002_batches: what batches need besides their tables, and what procedures hand to each other about waves.
-- Duration: milliseconds while there are no batches. Locks: writers of Batch and Task wait for that long. Old code beside it: runs on.
-- Twin: postgres/sql/migrations/0002_batches.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON; -- a filtered index asks for both
GO
-- Written under the batch's row lock only, so that who holds it needn't read waves that others may hold.
CREATE TABLE Taskgate.OpenWave (
  BatchId bigint NOT NULL,
  WaveId bigint NOT NULL,                           -- is being opened, or open
  CONSTRAINT PK_OpenWave PRIMARY KEY CLUSTERED (BatchId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_Batch_Unfinished ON Taskgate.Batch (BatchId) INCLUDE (State, FinishedAt)
  WHERE State IN (1, 4) AND FinishedAt IS NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE NONCLUSTERED INDEX IX_Task_Wave ON Taskgate.Task (WaveId, TaskId) WHERE WaveId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE TYPE Taskgate.WaveTaskList AS TABLE (
  TaskId bigint NOT NULL,
  WaveId bigint NOT NULL,
  Outcome tinyint NOT NULL,                         -- 10 done, 11 dead, 12 cancelled
  PRIMARY KEY CLUSTERED (TaskId));
GO
