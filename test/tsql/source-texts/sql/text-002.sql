-- Source text 002: a table used as a queue; jobs that were started more than an hour ago count as not started.
CREATE TABLE sys_QueueJob (
  Id int NOT NULL,
  CreatedOn datetime NOT NULL,
  ExecutionStartedOn datetime NULL,
  ExecutionFinishedOn datetime NULL,
  CONSTRAINT PK_QueueJob PRIMARY KEY CLUSTERED (Id));
GO
-- What the answer says is usually sufficient: without finished work, keyed on the columns of filter and order.
CREATE NONCLUSTERED INDEX IX_Unfinished ON sys_QueueJob (CreatedOn, Id) INCLUDE (ExecutionStartedOn)
  WHERE ExecutionFinishedOn IS NULL;
GO
INSERT INTO sys_QueueJob (Id, CreatedOn) VALUES
  (1, '2025-12-31T00:00:01'), (2, '2025-12-31T00:00:02'), (3, '2025-12-31T00:00:03'), (4, '2025-12-31T00:00:04');
GO
