-- taskgate._now: the one clock of every operation. Tests replace this function to move time.
-- In:     -
-- Out:    timestamptz, the instant of the call (not of the transaction's start)
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   none: T-SQL reads SYSUTCDATETIME()
create or replace function taskgate._now() returns timestamptz
language sql volatile as $$ select clock_timestamp() $$;
