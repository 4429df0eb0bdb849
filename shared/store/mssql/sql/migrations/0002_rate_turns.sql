-- 0002_rate_turns: a rate's bucket knows until when it has given turns to executions that it denied.
-- Duration: milliseconds, whatever the size: a column that may be null. Locks: RateBucket (Sch-M) for an instant. Old code beside it:
-- the procedures alone know the column.
-- Twin: postgres/sql/migrations/0002_rate_turns.sql
ALTER TABLE Taskgate.RateBucket ADD
  TurnAt datetime2(6) NULL;                         -- the last turn given; null: none was
GO
