-- 0002_rate_turns: a rate's bucket knows until when it has given turns to executions that it denied.
-- Duration: milliseconds, whatever the size: a column without a default. Locks: rate_bucket for an instant. Old code beside it: the
-- functions alone know the column.
-- Twin: mssql/sql/migrations/0002_rate_turns.sql

alter table taskgate.rate_bucket add column turn_at timestamptz;   -- the last turn given; null: none was
