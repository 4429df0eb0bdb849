-- 0014_call_audit: the audit of calls that change no setting: cancel, redrive, reschedule, batches, and tasks added by HTTP or the command.
-- Duration: milliseconds: an empty table. Locks: none that another caller can hold. Old code beside it: runs on; its calls name no actor.
-- Twin: postgres/sql/migrations/0014_call_audit.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
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
