-- 0010_stop_of_all: whether a stop of everything is on, so that definitions and schedules that come later are stopped as well.
-- Duration: milliseconds: one row; a stop that is in force is taken over. Locks: none that anybody else can hold. Old code beside it:
-- its stop pauses what there is and leaves the row alone.
-- Twin: postgres/sql/migrations/0010_stop_of_all.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
-- Written by SetStop only; read under a lock by calls that make a definition or a schedule.
CREATE TABLE Taskgate.Stop (
  StopId tinyint NOT NULL,                          -- always 1
  StoppedAt datetime2(3) NULL,                      -- null, as the two below: no stop is on
  StoppedBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
  Reason nvarchar(400) COLLATE Latin1_General_100_BIN2 NULL,
  CONSTRAINT PK_Stop PRIMARY KEY CLUSTERED (StopId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO Taskgate.Stop (StopId, StoppedAt, StoppedBy, Reason)
SELECT 1, x.StoppedAt, x.StoppedBy, x.Reason
FROM (VALUES (1)) AS v (N)
OUTER APPLY (
  SELECT TOP (1) s.StoppedAt, s.StoppedBy, s.Reason
  FROM (
    SELECT d.StoppedAt, d.StoppedBy, d.Reason FROM Taskgate.StoppedDefinition AS d
    UNION ALL
    SELECT c.StoppedAt, c.StoppedBy, c.Reason FROM Taskgate.StoppedSchedule AS c) AS s
  ORDER BY s.StoppedAt) AS x;
GO
