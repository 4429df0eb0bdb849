-- 0015_token_rows: a definition's tokens as rows, each under its holder's key. A grant of one moves one row; before, it made a version of up to
-- 8,040 bytes of the list.
-- Duration: milliseconds: a row per definition whose tokens are older than 0005 is counted. Locks: none on tables; those rows, for that time.
-- Old code beside it: the procedures alone know the tokens. This script moves none: it commits before the new procedures are there, and
-- the old ones would find an empty list and grant the whole limit anew. _MakeTokenRows moves a definition's tokens at their next change. It
-- leaves the word rows in ExecutionTokens, which no old procedure can read: a call of theirs that still runs is refused (50499) and grants
-- nothing. TokenStamp is out of use; a later version drops all three columns.
-- Twin: postgres/sql/migrations/0015_token_rows.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE TABLE Taskgate.Token (
  TaskDefinitionId int NOT NULL,
  HeldBy bigint NOT NULL,                           -- execution; 0: free
  Ord int NOT NULL,                                 -- place among the definition's tokens: grants begin at the first free one
  TokenId uniqueidentifier NOT NULL,                -- another one when it was taken from the dead
  LastHeldBy bigint NOT NULL,                       -- of a free one: execution that gave it back; 0: none did
  CONSTRAINT PK_Token PRIMARY KEY CLUSTERED (TaskDefinitionId, HeldBy, Ord) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
ALTER TABLE Taskgate.Token SET (LOCK_ESCALATION = DISABLE);
GO
-- Readers that lock nothing go by the count.
UPDATE d
SET HeldCount = CONVERT(int, (DATALENGTH(d.ExecutionTokens) - DATALENGTH(REPLACE(d.ExecutionTokens COLLATE Latin1_General_100_BIN2, N'S:0', N''))) / 6)
FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them: there are few
WHERE DATALENGTH(d.ExecutionTokens) > 0;
GO
