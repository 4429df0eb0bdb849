-- taskgate.pause_definition: nothing new is claimed or started; running tasks go on and may complete.
-- In:     p_name; p_changed_by (null: the login), p_reason for the audit; p_is_stop: part of a stop of everything, whose end resumes it: list_stopped tells
--           so. Else the pause is the operator's own, and stays when the stop ends; p_expected_paused: only if it is so now; null: either
-- Out:    status: paused | exists (it was so already) | conflict (it isn't as expected: nothing was written); ready: tasks wait
-- Raises: TG404 unknown definition; TG422 an actor that is empty, or a text too long
-- Locks:  task_definition, then its row in stopped_definition
-- Plan:   unique name, primary key
-- Once:   by value
-- Twin:   mssql/sql/procedures/PauseDefinition.sql
create or replace function taskgate.pause_definition(
  p_name text, p_changed_by text, p_reason text default null, p_is_stop boolean default false, p_expected_paused boolean default null,
  out status text, out ready boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  select c.o_status, c.o_ready into status, ready
    from _set_paused(p_name, true, p_changed_by, p_reason, coalesce(p_is_stop, false), p_expected_paused) c;
end $$;
