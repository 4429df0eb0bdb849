-- 0009_statistics: counts per definition and minute.
-- Duration: milliseconds: columns with constants as defaults, and empty tables. Locks: for that time executions can't be read. Old code
-- beside it: counts nothing, so these minutes have too low counts.
-- Twin: postgres/sql/migrations/0009_statistics.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- Totals of an execution, in its own row: a claim or an end counts where it writes anyhow, and waits for no other execution.
ALTER TABLE Taskgate.TaskExecution ADD
  ClaimedCount int NOT NULL
    CONSTRAINT DF_TaskExecution_ClaimedCount DEFAULT (0),
  DoneCount int NOT NULL
    CONSTRAINT DF_TaskExecution_DoneCount DEFAULT (0),
  FailedCount int NOT NULL                          -- attempts, those of dead tasks too
    CONSTRAINT DF_TaskExecution_FailedCount DEFAULT (0),
  DeadCount int NOT NULL
    CONSTRAINT DF_TaskExecution_DeadCount DEFAULT (0),
  LostCount int NOT NULL
    CONSTRAINT DF_TaskExecution_LostCount DEFAULT (0),
  RanMs bigint NOT NULL                             -- of the tasks that ended well
    CONSTRAINT DF_TaskExecution_RanMs DEFAULT (0),
  HeldMs bigint NOT NULL                            -- tokens times milliseconds, until TokensAt
    CONSTRAINT DF_TaskExecution_HeldMs DEFAULT (0),
  -- since when TokenCount is what it is; null: since StartedAt
  TokensAt datetime2(3) NULL;
GO
-- The rest of these four is written by RollUpStatistics only, under the lock of the one row here.
CREATE TABLE Taskgate.StatisticRound (
  RoundId tinyint NOT NULL,                         -- always 1
  LastExecutionId bigint NOT NULL,                  -- all up to it have ended and are counted, or stand in ExecutionCounted
  EndedAt datetime2(3) NOT NULL,                    -- of the last call; 2000: there was none
  CONSTRAINT PK_StatisticRound PRIMARY KEY CLUSTERED (RoundId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO Taskgate.StatisticRound (RoundId, LastExecutionId, EndedAt)
SELECT 1, COALESCE(MAX(e.TaskExecutionId), 0), '2000-01-01' FROM Taskgate.TaskExecution AS e;
GO
-- The counted totals of an execution that may go on.
CREATE TABLE Taskgate.ExecutionCounted (
  TaskExecutionId bigint NOT NULL,
  ClaimedCount int NOT NULL,
  DoneCount int NOT NULL,
  FailedCount int NOT NULL,
  DeadCount int NOT NULL,
  LostCount int NOT NULL,
  RanMs bigint NOT NULL,
  HeldMs bigint NOT NULL,
  CONSTRAINT PK_ExecutionCounted PRIMARY KEY CLUSTERED (TaskExecutionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.Statistic (
  TaskDefinitionId int NOT NULL,
  Grain int NOT NULL,                          -- the period's length: 1, 10 or 60 minutes
  At datetime2(3) NOT NULL,                         -- its begin
  Claimed int NOT NULL,
  Done int NOT NULL,
  Failed int NOT NULL,
  Dead int NOT NULL,
  Lost int NOT NULL,
  RanMs bigint NOT NULL,
  HeldMs bigint NOT NULL,
  TaskLimit int NOT NULL,                           -- at the last count; -1: none
  Ready int NOT NULL,                               -- the most that a count found, up to 1000
  NextAgeMs bigint NOT NULL,                        -- the oldest that a count found of the task that comes next; 0: none was ready
  CONSTRAINT PK_Statistic PRIMARY KEY CLUSTERED (TaskDefinitionId, Grain, At) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_Statistic_At ON Taskgate.Statistic (Grain, At) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- How long tasks of a period waited and ran, from a sample, weighted so that all that ended well are counted.
CREATE TABLE Taskgate.StatisticTime (
  TaskDefinitionId int NOT NULL,
  Grain int NOT NULL,
  At datetime2(3) NOT NULL,
  Measure tinyint NOT NULL,                         -- 1 ran, 2 waited: from the enqueue until the begin
  Bucket smallint NOT NULL,                         -- as _DurationBucket
  Tasks int NOT NULL,
  CONSTRAINT PK_StatisticTime PRIMARY KEY CLUSTERED (TaskDefinitionId, Grain, At, Measure, Bucket) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
