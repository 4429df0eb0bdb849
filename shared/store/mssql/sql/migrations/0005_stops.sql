-- 0005_stops: what an operator's stop of everything has paused, so that its end resumes exactly that.
-- Duration: milliseconds: empty tables. Locks: none that anybody else can hold. Old code beside it: the procedures alone know them.
-- Twin: postgres/sql/migrations/0005_stops.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- Written by who holds the definition's row only. An operator's own pause or resume takes the definition out.
CREATE TABLE Taskgate.StoppedDefinition (
  TaskDefinitionId int NOT NULL,
  StoppedAt datetime2(3) NOT NULL,
  StoppedBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Reason nvarchar(400) COLLATE Latin1_General_100_BIN2 NULL,
  CONSTRAINT PK_StoppedDefinition PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- Written by who holds the schedule's row only.
CREATE TABLE Taskgate.StoppedSchedule (
  ScheduleId int NOT NULL,
  StoppedAt datetime2(3) NOT NULL,
  StoppedBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Reason nvarchar(400) COLLATE Latin1_General_100_BIN2 NULL,
  CONSTRAINT PK_StoppedSchedule PRIMARY KEY CLUSTERED (ScheduleId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
