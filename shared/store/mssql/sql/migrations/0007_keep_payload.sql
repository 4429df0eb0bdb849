-- 0007_keep_payload: whether a definition's done tasks keep their payloads.
-- Duration: milliseconds: a row per definition. Locks: for that time definitions can't be read. Old code beside it: registers without it,
-- which is as before: they are kept.
-- Twin: postgres/sql/migrations/0007_keep_payload.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
ALTER TABLE Taskgate.TaskDefinition ADD
  KeepPayload bit NOT NULL                          -- 0: of done tasks only; the dead need theirs for a redrive
    CONSTRAINT DF_TaskDefinition_KeepPayload DEFAULT (1);
GO
