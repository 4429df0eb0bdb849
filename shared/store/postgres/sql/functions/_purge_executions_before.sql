-- taskgate._purge_executions_before: executions that ended before this instant may go: as long ago as the longest retention of any
--         definition, so that finished tasks still name their workers; a day at least, for late repeats.
-- In:     p_now
-- Out:    timestamptz
-- Raises: -
-- Locks:  none
-- Plan:   all definitions: there are few
-- Twin:   mssql/sql/functions/_PurgeExecutionsBefore.sql
create or replace function taskgate._purge_executions_before(p_now timestamptz) returns timestamptz
language sql stable as $$
  select p_now - greatest(max(d.retain_done_ms), max(d.retain_dead_ms), 86400000) * interval '1 ms' from taskgate.task_definition d
$$;
