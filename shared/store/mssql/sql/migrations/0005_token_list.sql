-- 0005_token_list: a definition's tokens as entries of one width, their count, and a number that grows with each change.
-- Duration: milliseconds: a row per definition. Locks: for that time definitions can't be read. Old code beside it: the procedures alone
-- know it. Rows of before keep their string in ExecutionTokens until their tokens change; a later version drops that column.
-- Twin: postgres/sql/migrations/0005_token_list.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
ALTER TABLE Taskgate.TaskDefinition ADD
  -- JSON array of the triples of seed 000, "I:<id>,S:<0 held, 1 free>,G:<execution, 18 digits>", 66 bytes each with its comma.
  TokenList varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL,
  HeldCount int NOT NULL                            -- entries of TokenList that are held
    CONSTRAINT DF_TaskDefinition_HeldCount DEFAULT (0),
  TokenStamp bigint NOT NULL                        -- grows with every change of the list or the limit
    CONSTRAINT DF_TaskDefinition_TokenStamp DEFAULT (0);
GO
