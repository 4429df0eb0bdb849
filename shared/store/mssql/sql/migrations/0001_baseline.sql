-- 0001_baseline: every table, empty, as of 0.2.0-pre. A later change of a table is a migration of its own, which adds.
-- Duration: milliseconds on an empty database. Locks: none that anybody else can hold. Old code beside it: there is none.
-- Twin: postgres/sql/migrations/0001_baseline.sql
--
-- A task's state is the table its id stands in, not a column: exactly one of Ready, Scheduled, GroupWaiting, WaveBlocked,
-- Claim; at the end, Archive. Each container is narrow, is clustered in the order it is taken in, and holds nothing that
-- its takers would have to step over.
-- Settings: ALLOW_PAGE_LOCKS = OFF where rows are locked, because READPAST steps over row locks only;
-- LOCK_ESCALATION = DISABLE on queue tables, because nobody can step over a table lock. No foreign keys and no triggers:
-- CheckInvariants looks instead. Keys given by users compare byte by byte (BIN2), as they do on PostgreSQL.
-- Run with READ_COMMITTED_SNAPSHOT ON, as Azure SQL has it: with it off everything stays correct, but readers wait.
SET ANSI_NULLS, QUOTED_IDENTIFIER ON; -- a filtered index asks for both, and procedures keep them
GO
CREATE SCHEMA Taskgate AUTHORIZATION dbo;
GO
CREATE ROLE TaskgateWorker;
GO
CREATE ROLE TaskgateOperator;
GO
-- One server-wide cache each, so order of creation and growth of fences hold; a restart may skip numbers.
CREATE SEQUENCE Taskgate.TaskSequence AS bigint START WITH 1 INCREMENT BY 1 CACHE 1000;
GO
CREATE SEQUENCE Taskgate.FenceSequence AS bigint START WITH 1 INCREMENT BY 1 CACHE 1000;
GO
CREATE TABLE Taskgate.SchemaVersion (
  Version int NOT NULL CONSTRAINT PK_SchemaVersion PRIMARY KEY CLUSTERED,
  Name nvarchar(200) NOT NULL,
  Checksum nvarchar(64) NOT NULL,
  ClientVersionMin nvarchar(40) NOT NULL,
  AppliedAt datetime2(3) NOT NULL);
GO
CREATE TABLE Taskgate.TaskDefinition (
  TaskDefinitionId int IDENTITY(1,1) NOT NULL,
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL
    CONSTRAINT CK_TaskDefinition_Name CHECK (DATALENGTH(Name) > 0),
  HoldLockTaskExecutionId bigint NULL,              -- written first by whoever changes tokens (seed 000)
  ExecutionTokens nvarchar(max) NOT NULL            -- I:<id>,S:<0 held, 1 free>,G:<execution> repeated; empty without a limit
    CONSTRAINT DF_TaskDefinition_ExecutionTokens DEFAULT (N''),
  TokenFence bigint NOT NULL                        -- grows with every grant
    CONSTRAINT DF_TaskDefinition_TokenFence DEFAULT (0),
  ConcurrencyLimit int NOT NULL                     -- what the code says: -1 none, 0 nothing starts, else 1..1000
    CONSTRAINT DF_TaskDefinition_ConcurrencyLimit DEFAULT (1)
    CONSTRAINT CK_TaskDefinition_ConcurrencyLimit CHECK (ConcurrencyLimit BETWEEN -1 AND 1000),
  ConcurrencyLimitOverride int NULL                 -- what an operator says; wins while it is not null
    CONSTRAINT CK_TaskDefinition_ConcurrencyLimitOverride CHECK (ConcurrencyLimitOverride BETWEEN -1 AND 1000),
  Paused bit NOT NULL CONSTRAINT DF_TaskDefinition_Paused DEFAULT (0),
  LeaseMs int NOT NULL CONSTRAINT DF_TaskDefinition_LeaseMs DEFAULT (60000),
  RetryAttempts smallint NOT NULL CONSTRAINT DF_TaskDefinition_RetryAttempts DEFAULT (5),
  LostMax smallint NOT NULL CONSTRAINT DF_TaskDefinition_LostMax DEFAULT (3),
  RetryBaseMs int NOT NULL CONSTRAINT DF_TaskDefinition_RetryBaseMs DEFAULT (1000),
  RetryCapMs int NOT NULL CONSTRAINT DF_TaskDefinition_RetryCapMs DEFAULT (300000),
  PrefetchMax smallint NOT NULL                     -- claims <= tokens * (1 + PrefetchMax)
    CONSTRAINT DF_TaskDefinition_PrefetchMax DEFAULT (1),
  GroupSlots smallint NOT NULL                      -- of groups made by this definition's tasks
    CONSTRAINT DF_TaskDefinition_GroupSlots DEFAULT (1),
  GroupStrict bit NOT NULL CONSTRAINT DF_TaskDefinition_GroupStrict DEFAULT (0),
  RetainDoneMs bigint NOT NULL                      -- 0: a done task leaves no archive row
    CONSTRAINT DF_TaskDefinition_RetainDoneMs DEFAULT (604800000),
  RetainDeadMs bigint NOT NULL CONSTRAINT DF_TaskDefinition_RetainDeadMs DEFAULT (2592000000),
  Build bigint NOT NULL                             -- of the code that registered last; an older one changes nothing
    CONSTRAINT DF_TaskDefinition_Build DEFAULT (0),
  SettingsHash nvarchar(64) COLLATE Latin1_General_100_BIN2 NOT NULL
    CONSTRAINT DF_TaskDefinition_SettingsHash DEFAULT (N''),
  CreatedAt datetime2(3) NOT NULL,
  CONSTRAINT PK_TaskDefinition PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_TaskDefinition_Name UNIQUE NONCLUSTERED (Name) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- A kind without rules has no row. Either a path into the payload gives the group's key, or a function in the code does: then callers
-- without the code must say the group.
CREATE TABLE Taskgate.TaskKind (
  TaskDefinitionId int NOT NULL,
  Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  GroupBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  IsGroupComputed bit NOT NULL,
  Priority smallint NULL,
  RunInMs bigint NULL,
  DedupeBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  DedupeMs bigint NULL,
  CONSTRAINT PK_TaskKind PRIMARY KEY CLUSTERED (TaskDefinitionId, Kind));
GO
-- Which app runs the tasks of a definition, and where its hints go.
CREATE TABLE Taskgate.App (
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Address nvarchar(2000) COLLATE Latin1_General_100_BIN2 NULL, -- JSON object: queue of its hints, schedule of its sweep; no secret; null: not known
  RegisteredAt datetime2(3) NOT NULL,
  CONSTRAINT PK_App PRIMARY KEY CLUSTERED (Name));
GO
-- By name: an app names its definitions before it registers them. A definition without a row belongs to no app.
CREATE TABLE Taskgate.DefinitionOwner (
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  App nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  CONSTRAINT PK_DefinitionOwner PRIMARY KEY CLUSTERED (Name));
GO
CREATE TABLE Taskgate.SettingAudit (
  SettingAuditId bigint IDENTITY(1,1) NOT NULL CONSTRAINT PK_SettingAudit PRIMARY KEY CLUSTERED,
  TaskDefinitionId int NOT NULL,
  Setting nvarchar(100) NOT NULL,
  OldValue nvarchar(400) NULL,
  NewValue nvarchar(400) NULL,
  Source nvarchar(20) NOT NULL,                     -- code | operator
  ChangedBy nvarchar(200) NOT NULL,
  Reason nvarchar(400) NULL,
  ChangedAt datetime2(3) NOT NULL);
GO
CREATE NONCLUSTERED INDEX IX_SettingAudit_Definition ON Taskgate.SettingAudit (TaskDefinitionId, SettingAuditId);
GO
-- Calls that change no setting: cancel, redrive, reschedule, batches, and tasks added by HTTP or the command line.
-- Entries of one retention stand together, so that a purge and a list read from an end.
CREATE TABLE Taskgate.CallAudit (
  IsEnqueue bit NOT NULL,                           -- kept for 30 days; the others for 400
  ChangedAt datetime2(3) NOT NULL,
  CallAuditId bigint IDENTITY(1,1) NOT NULL,
  Action nvarchar(100) NOT NULL,                    -- name of the operation
  TaskDefinitionId int NOT NULL,                    -- 0: tasks of several definitions, or a batch
  BatchId bigint NULL,
  TaskCount int NOT NULL,
  TaskIds nvarchar(max) NULL,                       -- JSON array of strings: the first 1000 of them
  ChangedBy nvarchar(200) NOT NULL,
  Reason nvarchar(400) NULL,
  CONSTRAINT PK_CallAudit PRIMARY KEY CLUSTERED (IsEnqueue, ChangedAt, CallAuditId));
GO
CREATE TABLE Taskgate.SharedLimit (
  SharedLimitId int IDENTITY(1,1) NOT NULL,
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  HoldLockTaskExecutionId bigint NULL,
  ExecutionTokens nvarchar(max) NOT NULL CONSTRAINT DF_SharedLimit_ExecutionTokens DEFAULT (N''),
  TokenFence bigint NOT NULL CONSTRAINT DF_SharedLimit_TokenFence DEFAULT (0),
  ConcurrencyLimit int NOT NULL CONSTRAINT DF_SharedLimit_ConcurrencyLimit DEFAULT (1),
  ConcurrencyLimitOverride int NULL,
  CONSTRAINT PK_SharedLimit PRIMARY KEY CLUSTERED (SharedLimitId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_SharedLimit_Name UNIQUE NONCLUSTERED (Name) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.TaskDefinitionSharedLimit (
  TaskDefinitionId int NOT NULL,
  SharedLimitId int NOT NULL,
  CONSTRAINT PK_TaskDefinitionSharedLimit PRIMARY KEY CLUSTERED (TaskDefinitionId, SharedLimitId));
GO
CREATE NONCLUSTERED INDEX IX_TaskDefinitionSharedLimit_SharedLimit ON Taskgate.TaskDefinitionSharedLimit (SharedLimitId, TaskDefinitionId)
  WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE TABLE Taskgate.RateBucket (
  TaskDefinitionId int NOT NULL,
  RateCount int NOT NULL,                           -- tasks per period, by the code
  RatePeriodMs int NOT NULL,
  RateBurst int NOT NULL,
  RateCountOverride int NULL,                       -- all three overrides together, or none
  RatePeriodMsOverride int NULL,
  RateBurstOverride int NULL,
  NextFreeAt datetime2(7) NOT NULL,                 -- the one instant of the generic cell rate algorithm; finer than ms
  CONSTRAINT PK_RateBucket PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- Says which definitions have a rate without the rows that claims hold: no claim changes this key.
CREATE NONCLUSTERED INDEX IX_RateBucket_Definition ON Taskgate.RateBucket (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- A definition has a row here and in TokenGift from its registration on, a shared limit its row of SharedTokenDemand: a denial
-- changes a row, and never waits for one that is being made.
CREATE TABLE Taskgate.TokenDemand (
  TaskDefinitionId int NOT NULL,
  DeniedAt datetime2(3) NOT NULL,                   -- somebody was denied then; written at most once a second
  CONSTRAINT PK_TokenDemand PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- When a holder gave tokens for somebody who was denied; written under the definition's row lock only.
CREATE TABLE Taskgate.TokenGift (
  TaskDefinitionId int NOT NULL,
  GivenAt datetime2(3) NOT NULL,
  CONSTRAINT PK_TokenGift PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- When somebody was denied by a shared limit, and of which definition; when a holder gave for that one, written under the limit's row lock only.
CREATE TABLE Taskgate.SharedTokenDemand (
  SharedLimitId int NOT NULL,
  DeniedAt datetime2(3) NOT NULL,
  TaskDefinitionId int NULL,
  GivenAt datetime2(3) NOT NULL,
  CONSTRAINT PK_SharedTokenDemand PRIMARY KEY CLUSTERED (SharedLimitId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.TaskExecution (
  TaskExecutionId bigint IDENTITY(1,1) NOT NULL,
  OperationId uniqueidentifier NOT NULL,
  TaskDefinitionId int NOT NULL,
  State tinyint NOT NULL,                           -- 1 live, 2 ended, 3 declared dead, 4 dead and reclaimed
  StartedAt datetime2(3) NOT NULL,
  LeaseUntil datetime2(3) NOT NULL,                 -- not indexed: finder and owner would lock row and index in two orders
  EndedAt datetime2(3) NULL,
  Worker nvarchar(200) NOT NULL,
  Build bigint NOT NULL                             -- of the code that runs here
    CONSTRAINT DF_TaskExecution_Build DEFAULT (0),
  TokenCount int NOT NULL                           -- tokens granted; the string says who holds them while there is a limit
    CONSTRAINT DF_TaskExecution_TokenCount DEFAULT (0),
  CallNumber bigint NOT NULL                        -- of the last work call, so that its answer can be given again
    CONSTRAINT DF_TaskExecution_CallNumber DEFAULT (0),
  CallFence bigint NULL,                            -- the claims of that call carry this fence
  CallRefused nvarchar(max) NULL,                   -- and these completions were refused
  IsSolo bit NOT NULL                               -- runs a task that was lost twice, alone
    CONSTRAINT DF_TaskExecution_IsSolo DEFAULT (0),
  CONSTRAINT PK_TaskExecution PRIMARY KEY CLUSTERED (TaskExecutionId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_TaskExecution_OperationId UNIQUE NONCLUSTERED (OperationId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_TaskExecution_Open ON Taskgate.TaskExecution (TaskDefinitionId, TaskExecutionId)
  INCLUDE (State) WHERE State IN (1, 3) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- The claims of an execution, in claim order; who holds its TaskExecution row may change them, and nobody else may.
CREATE TABLE Taskgate.Claim (
  TaskExecutionId bigint NOT NULL,
  Fence bigint NOT NULL,
  Ordinal int NOT NULL,                             -- within the call that claimed it
  TaskId bigint NOT NULL,
  ClaimedAt datetime2(3) NOT NULL,
  IsPrefetched bit NOT NULL                         -- hasn't been started
    CONSTRAINT DF_Claim_IsPrefetched DEFAULT (0),
  CONSTRAINT PK_Claim PRIMARY KEY CLUSTERED (TaskExecutionId, Fence, Ordinal) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_Claim_Task UNIQUE NONCLUSTERED (TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Claim SET (LOCK_ESCALATION = DISABLE);
GO
CREATE TABLE Taskgate.Task (
  TaskId bigint NOT NULL,
  TaskDefinitionId int NOT NULL,
  Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Priority smallint NOT NULL,
  Rank bigint NOT NULL CONSTRAINT DF_Task_Rank DEFAULT (0),
  CreatedAt datetime2(3) NOT NULL,
  GroupId int NULL,                                 -- while it holds a slot or waits for one
  -- Enqueued inside a user's transaction before the group existed: promotion makes it, so that no new key keeps others waiting.
  PendingGroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  PendingGroupIsGlobal bit NULL,
  WaveId bigint NULL,
  DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  Build bigint NOT NULL                             -- of the code that enqueued it
    CONSTRAINT DF_Task_Build DEFAULT (0),
  TraceParent nvarchar(55) NULL,
  FailedCount smallint NOT NULL CONSTRAINT DF_Task_FailedCount DEFAULT (0),
  LostCount smallint NOT NULL CONSTRAINT DF_Task_LostCount DEFAULT (0),
  ContinuedCount int NOT NULL CONSTRAINT DF_Task_ContinuedCount DEFAULT (0),
  CancelRequested bit NOT NULL CONSTRAINT DF_Task_CancelRequested DEFAULT (0),
  Payload nvarchar(max) NULL,
  [Checkpoint] nvarchar(max) NULL,
  LastError nvarchar(4000) NULL,
  ProgressDone bigint NULL,
  ProgressTotal bigint NULL,
  ProgressText nvarchar(400) NULL,
  CONSTRAINT PK_Task PRIMARY KEY CLUSTERED (TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Task SET (LOCK_ESCALATION = DISABLE);
GO
CREATE NONCLUSTERED INDEX IX_Task_Wave ON Taskgate.Task (WaveId, TaskId) WHERE WaveId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE TABLE Taskgate.Ready (
  TaskDefinitionId int NOT NULL,
  Priority smallint NOT NULL,
  Rank bigint NOT NULL,
  TaskId bigint NOT NULL,
  IsSolo bit NOT NULL                               -- was lost twice: claimed alone
    CONSTRAINT DF_Ready_IsSolo DEFAULT (0),
  CONSTRAINT PK_Ready PRIMARY KEY CLUSTERED (TaskDefinitionId, Priority, Rank, TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Ready SET (LOCK_ESCALATION = DISABLE);
GO
CREATE TABLE Taskgate.Scheduled (
  TaskDefinitionId int NOT NULL,
  RunAt datetime2(3) NOT NULL,
  TaskId bigint NOT NULL,
  CONSTRAINT PK_Scheduled PRIMARY KEY CLUSTERED (TaskDefinitionId, RunAt, TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Scheduled SET (LOCK_ESCALATION = DISABLE);
GO
CREATE TABLE Taskgate.TaskGroup (
  GroupId int IDENTITY(1,1) NOT NULL,
  TaskDefinitionId int NOT NULL,                    -- 0: the group excludes tasks of all definitions
  GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Slots smallint NOT NULL,
  Paused bit NOT NULL CONSTRAINT DF_TaskGroup_Paused DEFAULT (0),
  Strict bit NOT NULL CONSTRAINT DF_TaskGroup_Strict DEFAULT (0),
  CONSTRAINT PK_TaskGroup PRIMARY KEY CLUSTERED (GroupId) WITH (ALLOW_PAGE_LOCKS = OFF, FILLFACTOR = 80),
  CONSTRAINT UQ_TaskGroup_Key UNIQUE NONCLUSTERED (TaskDefinitionId, GroupKey) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.GroupSlot (
  GroupId int NOT NULL,
  Slot smallint NOT NULL,
  TaskId bigint NOT NULL,
  CONSTRAINT PK_GroupSlot PRIMARY KEY CLUSTERED (GroupId, Slot) WITH (ALLOW_PAGE_LOCKS = OFF, FILLFACTOR = 80));
GO
ALTER TABLE Taskgate.GroupSlot SET (LOCK_ESCALATION = DISABLE);
GO
CREATE TABLE Taskgate.GroupWaiting (
  GroupId int NOT NULL,
  Priority smallint NOT NULL,
  Rank bigint NOT NULL,
  TaskId bigint NOT NULL,
  TaskDefinitionId int NOT NULL,
  CONSTRAINT PK_GroupWaiting PRIMARY KEY CLUSTERED (GroupId, Priority, Rank, TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.GroupWaiting SET (LOCK_ESCALATION = DISABLE);
GO
-- Groups that an operator has set stay. Written under the group's row lock only.
CREATE TABLE Taskgate.GroupKept (
  GroupId int NOT NULL,
  CONSTRAINT PK_GroupKept PRIMARY KEY CLUSTERED (GroupId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- How far a purge has looked through the groups: one row, and one purge at a time.
CREATE TABLE Taskgate.GroupRound (
  RoundId tinyint NOT NULL,                         -- always 1
  LastGroupId int NOT NULL,                         -- 0: a round begins
  EndedAt datetime2(3) NOT NULL,                    -- of the last round
  CONSTRAINT PK_GroupRound PRIMARY KEY CLUSTERED (RoundId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO Taskgate.GroupRound (RoundId, LastGroupId, EndedAt) VALUES (1, 0, '2000-01-01');
GO
CREATE TABLE Taskgate.Batch (
  BatchId bigint IDENTITY(1,1) NOT NULL,
  OperationId uniqueidentifier NOT NULL,
  Name nvarchar(200) NOT NULL,
  State tinyint NOT NULL                            -- 0 draft, 1 running, 2 halted, 3 done, 4 cancelled
    CONSTRAINT DF_Batch_State DEFAULT (0),
  FailurePolicy tinyint NOT NULL                    -- 1 halt, 2 continue, 3 cancel
    CONSTRAINT DF_Batch_FailurePolicy DEFAULT (1),
  CreatedAt datetime2(3) NOT NULL,
  StartedAt datetime2(3) NULL,
  FinishedAt datetime2(3) NULL,
  CONSTRAINT PK_Batch PRIMARY KEY CLUSTERED (BatchId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_Batch_OperationId UNIQUE NONCLUSTERED (OperationId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_Batch_Unfinished ON Taskgate.Batch (BatchId) INCLUDE (State, FinishedAt)
  WHERE State IN (1, 4) AND FinishedAt IS NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE TABLE Taskgate.Wave (
  WaveId bigint IDENTITY(1,1) NOT NULL,
  BatchId bigint NOT NULL,
  Ordinal int NOT NULL,
  State tinyint NOT NULL                            -- 0 blocked, 1 opening, 2 open, 3 done
    CONSTRAINT DF_Wave_State DEFAULT (0),
  IsSealed bit NOT NULL CONSTRAINT DF_Wave_IsSealed DEFAULT (0),
  OpenShards int NOT NULL CONSTRAINT DF_Wave_OpenShards DEFAULT (0),
  Total int NOT NULL CONSTRAINT DF_Wave_Total DEFAULT (0),
  DeadCount int NOT NULL CONSTRAINT DF_Wave_DeadCount DEFAULT (0),
  OpenedAt datetime2(3) NULL,
  FinishedAt datetime2(3) NULL,
  CONSTRAINT PK_Wave PRIMARY KEY CLUSTERED (WaveId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_Wave_Ordinal UNIQUE NONCLUSTERED (BatchId, Ordinal) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_Wave_Opening ON Taskgate.Wave (WaveId) INCLUDE (State) WHERE State = 1
  WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- Written under the batch's row lock only, so that who holds it needn't read waves that others may hold.
CREATE TABLE Taskgate.OpenWave (
  BatchId bigint NOT NULL,
  WaveId bigint NOT NULL,                           -- is being opened, or open
  CONSTRAINT PK_OpenWave PRIMARY KEY CLUSTERED (BatchId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.WaveShard (
  WaveId bigint NOT NULL,
  Shard smallint NOT NULL,                          -- (TaskId / 512) % 16
  Remaining int NOT NULL,
  CONSTRAINT PK_WaveShard PRIMARY KEY CLUSTERED (WaveId, Shard) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.WaveBlocked (
  WaveId bigint NOT NULL,
  Priority smallint NOT NULL,
  Rank bigint NOT NULL,
  TaskId bigint NOT NULL,
  TaskDefinitionId int NOT NULL,
  CONSTRAINT PK_WaveBlocked PRIMARY KEY CLUSTERED (WaveId, Priority, Rank, TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.WaveBlocked SET (LOCK_ESCALATION = DISABLE);
GO
CREATE TABLE Taskgate.Dedupe (
  TaskDefinitionId int NOT NULL,
  DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  TaskId bigint NOT NULL,
  ExpiresAt datetime2(3) NULL,                      -- null: for as long as the task is unfinished
  CONSTRAINT PK_Dedupe PRIMARY KEY CLUSTERED (TaskDefinitionId, DedupeKey) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Dedupe SET (LOCK_ESCALATION = DISABLE);
GO
CREATE NONCLUSTERED INDEX IX_Dedupe_Expires ON Taskgate.Dedupe (ExpiresAt) WHERE ExpiresAt IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE TABLE Taskgate.Attempt (
  TaskId bigint NOT NULL,
  Fence bigint NOT NULL,
  TaskExecutionId bigint NOT NULL,
  ClaimedAt datetime2(3) NOT NULL,
  FinishedAt datetime2(3) NOT NULL,
  DurationMs int NULL,                              -- measured by the worker; null: it never told
  Outcome tinyint NOT NULL,                         -- 11 failed, 12 cancelled, 13 lost, 14 continued later without counting
  Error nvarchar(4000) NULL,
  CONSTRAINT PK_Attempt PRIMARY KEY CLUSTERED (TaskId, Fence) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Attempt SET (LOCK_ESCALATION = DISABLE);
GO
CREATE TABLE Taskgate.Archive (
  TaskId bigint NOT NULL,
  TaskDefinitionId int NOT NULL,
  Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Priority smallint NOT NULL,
  Rank bigint NOT NULL,
  CreatedAt datetime2(3) NOT NULL,
  FinishedAt datetime2(3) NOT NULL,
  PurgeAfter datetime2(3) NOT NULL,
  TaskExecutionId bigint NULL,                      -- of the last attempt; null: none was made
  Fence bigint NULL,
  DurationMs int NULL,
  GroupId int NULL,
  WaveId bigint NULL,
  DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  Build bigint NOT NULL,
  Outcome tinyint NOT NULL,                         -- 10 done, 11 dead, 12 cancelled
  FailedCount smallint NOT NULL,
  LostCount smallint NOT NULL,
  Error nvarchar(4000) NULL,
  Result nvarchar(max) NULL,
  Payload nvarchar(max) NULL,
  CONSTRAINT PK_Archive PRIMARY KEY CLUSTERED (TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Archive SET (LOCK_ESCALATION = DISABLE);
GO
CREATE NONCLUSTERED INDEX IX_Archive_Finished ON Taskgate.Archive (TaskDefinitionId, Outcome, FinishedAt)
  WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE NONCLUSTERED INDEX IX_Archive_Purge ON Taskgate.Archive (PurgeAfter) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- A task that may be redriven needs its group. One that is done names none.
CREATE NONCLUSTERED INDEX IX_Archive_Group ON Taskgate.Archive (GroupId) WHERE GroupId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- Of archived tasks that ended before they came into their group or wave. Who holds the archive's row may write it.
CREATE TABLE Taskgate.EndedEarly (
  TaskId bigint NOT NULL,
  PendingGroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, -- the group wasn't made yet
  PendingGroupIsGlobal bit NULL,
  WasBlocked bit NOT NULL,                          -- its wave didn't count it yet
  CONSTRAINT PK_EndedEarly PRIMARY KEY CLUSTERED (TaskId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.EndedEarly SET (LOCK_ESCALATION = DISABLE);
GO
-- Clustered by time, found by id: random ids as the clustered key would split pages for ever.
CREATE TABLE Taskgate.Operation (
  OperationId uniqueidentifier NOT NULL,
  Name nvarchar(200) NOT NULL,
  DoneAt datetime2(3) NOT NULL,
  Answer nvarchar(max) NULL,
  CONSTRAINT IX_Operation_DoneAt UNIQUE CLUSTERED (DoneAt, OperationId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT PK_Operation PRIMARY KEY NONCLUSTERED (OperationId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.Schedule (
  ScheduleId int IDENTITY(1,1) NOT NULL,
  TaskDefinitionId int NOT NULL,
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Cron nvarchar(200) NOT NULL,
  TimeZone nvarchar(100) NOT NULL,
  MissedPolicy tinyint NOT NULL                     -- 1 skip, 2 once, 3 all
    CONSTRAINT DF_Schedule_MissedPolicy DEFAULT (2),
  NextRunAt datetime2(3) NULL,
  LastRunAt datetime2(3) NULL,
  Paused bit NOT NULL CONSTRAINT DF_Schedule_Paused DEFAULT (0),
  Payload nvarchar(max) NULL,
  CONSTRAINT PK_Schedule PRIMARY KEY CLUSTERED (ScheduleId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_Schedule_Name UNIQUE NONCLUSTERED (TaskDefinitionId, Name) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- The group that a schedule's tasks join; no row: none. Written under the schedule's row lock only.
CREATE TABLE Taskgate.ScheduleGroup (
  ScheduleId int NOT NULL,
  GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  CONSTRAINT PK_ScheduleGroup PRIMARY KEY CLUSTERED (ScheduleId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE TABLE Taskgate.BlockWatermark (
  TaskDefinitionId int NOT NULL,
  Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  WatermarkValue nvarchar(max) NOT NULL,
  Version bigint NOT NULL CONSTRAINT DF_BlockWatermark_Version DEFAULT (1),
  ChangedAt datetime2(3) NOT NULL,
  CONSTRAINT PK_BlockWatermark PRIMARY KEY CLUSTERED (TaskDefinitionId, Name) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- 1..1000: tokens, slots and what else is counted out (SQL Server 2019 has no GENERATE_SERIES). Never written again; its
-- rows also serve as latches by hash.
CREATE TABLE Taskgate.Number (
  N smallint NOT NULL,
  CONSTRAINT PK_Number PRIMARY KEY CLUSTERED (N) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO Taskgate.Number (N)
SELECT 1 + a.D + 10 * b.D + 100 * c.D
FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS a (D)
CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS b (D)
CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS c (D);
GO
-- What the procedures hand to each other. A type in use can't be dropped: a changed one gets a new name.
CREATE TYPE Taskgate.EndedTaskList AS TABLE (
  TaskId bigint NOT NULL,
  Fence bigint NULL,                                -- of the last attempt; null: none was made
  Outcome tinyint NOT NULL,                         -- 10 done, 11 dead, 12 cancelled
  DurationMs int NULL,
  Result nvarchar(max) NULL,
  PRIMARY KEY CLUSTERED (TaskId));
GO
CREATE TYPE Taskgate.GroupedTaskList AS TABLE (
  TaskId bigint NOT NULL,
  GroupId int NULL,                                 -- null: passed over
  PRIMARY KEY CLUSTERED (TaskId));
GO
CREATE TYPE Taskgate.TaskIdList AS TABLE (
  Ord int NOT NULL,
  TaskId bigint NOT NULL,
  PRIMARY KEY CLUSTERED (Ord));
GO
CREATE TYPE Taskgate.WaveTaskList AS TABLE (
  TaskId bigint NOT NULL,
  WaveId bigint NOT NULL,
  Outcome tinyint NOT NULL,                         -- 10 done, 11 dead, 12 cancelled
  PRIMARY KEY CLUSTERED (TaskId));
GO
CREATE TYPE Taskgate.ReplacementList AS TABLE (
  TaskId bigint NOT NULL,
  Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  TraceParent nvarchar(55) NULL,
  Payload nvarchar(max) NULL,
  PRIMARY KEY CLUSTERED (TaskId));
GO
-- Names of locks on keys, taken in this order.
CREATE TYPE Taskgate.KeyLockList AS TABLE (
  Name nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL,
  PRIMARY KEY CLUSTERED (Name));
GO
