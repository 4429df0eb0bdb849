-- 0006_utf8_texts: payloads, results, checkpoints and errors in UTF-8: half the bytes, of Chinese and its like one and a half times as many.
-- Duration: milliseconds: no row is written. Locks: for that time these tables can't be read. Old code beside it: the procedures alone know
-- it. Rows of before keep their texts in the old columns, which nothing writes any more; they end with their tasks and by retention, and a
-- later version drops the columns.
-- Twin: postgres/sql/migrations/0006_utf8_texts.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
ALTER TABLE Taskgate.Task ADD
  PayloadUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL,
  CheckpointUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL,
  LastErrorUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL;
GO
ALTER TABLE Taskgate.Attempt ADD
  ErrorUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL;
GO
ALTER TABLE Taskgate.Archive ADD
  ErrorUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL,
  ResultUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL,
  PayloadUtf8 varchar(max) COLLATE Latin1_General_100_BIN2_UTF8 NULL;
GO
