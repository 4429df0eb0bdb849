-- 0010_shared_spread: what lets the tokens of shared limits wander from those who hold many to those who were denied.
-- Duration: milliseconds: one row per shared limit. Locks: none that anybody else can hold. Old code beside it: runs on, and gives nothing.
-- Twin: postgres/sql/migrations/0010_shared_spread.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- When somebody was denied by a shared limit, and of which definition; when a holder gave for that one, written under the limit's row lock only.
CREATE TABLE Taskgate.SharedTokenDemand (
  SharedLimitId int NOT NULL,
  DeniedAt datetime2(3) NOT NULL,
  TaskDefinitionId int NULL,
  GivenAt datetime2(3) NOT NULL,
  CONSTRAINT PK_SharedTokenDemand PRIMARY KEY CLUSTERED (SharedLimitId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- A limit has its row from the beginning: a denial changes one, and never waits for one that is being made.
INSERT INTO Taskgate.SharedTokenDemand (SharedLimitId, DeniedAt, GivenAt)
SELECT s.SharedLimitId, '2000-01-01', '2000-01-01' FROM Taskgate.SharedLimit AS s;
GO
