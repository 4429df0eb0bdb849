-- 0007_spread: what lets tokens wander from those who hold many to those who were denied.
-- Duration: milliseconds: one row per definition. Locks: none that anybody else can hold. Old code beside it: runs on, and gives nothing.
-- Twin: postgres/sql/migrations/0007_spread.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- When a holder gave tokens for somebody who was denied; written under the definition's row lock only.
CREATE TABLE Taskgate.TokenGift (
  TaskDefinitionId int NOT NULL,
  GivenAt datetime2(3) NOT NULL,
  CONSTRAINT PK_TokenGift PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- A definition has its two rows from its registration on: a denial changes one, and never waits for one that is being made.
INSERT INTO Taskgate.TokenDemand (TaskDefinitionId, DeniedAt)
SELECT d.TaskDefinitionId, '2000-01-01'
FROM Taskgate.TaskDefinition AS d
WHERE NOT EXISTS (SELECT 1 FROM Taskgate.TokenDemand AS q WHERE q.TaskDefinitionId = d.TaskDefinitionId);
GO
INSERT INTO Taskgate.TokenGift (TaskDefinitionId, GivenAt)
SELECT d.TaskDefinitionId, '2000-01-01' FROM Taskgate.TaskDefinition AS d;
GO
