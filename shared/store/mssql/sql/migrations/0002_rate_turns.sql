-- 0002_rate_turns: until when a rate has given turns to executions that it denied.
-- Duration: milliseconds: an empty table. Locks: none that anybody else can hold. Old code beside it: the procedures alone know it.
-- Twin: postgres/sql/migrations/0002_rate_turns.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- Written by who holds the definition's RateBucket row only; made by the first denial.
CREATE TABLE Taskgate.RateTurn (
  TaskDefinitionId int NOT NULL,
  TurnAt datetime2(6) NOT NULL,                     -- the last turn given
  CONSTRAINT PK_RateTurn PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
