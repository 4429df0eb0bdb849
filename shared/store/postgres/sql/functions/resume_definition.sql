-- taskgate.resume_definition: takes a pause away; send a hint when it says ready.
-- In:     p_name; p_changed_by (null: the login), p_reason for the audit; p_expected_paused: only if it is so now; null: either
-- Out:    status: resumed | exists (it was so already) | conflict (it isn't as expected: nothing was written); ready: tasks wait
-- Raises: TG404 unknown definition; TG422 an actor that is empty, or a text too long
-- Locks:  task_definition, then its row in stopped_definition
-- Plan:   unique name, primary key
-- Once:   by value
-- Twin:   mssql/sql/procedures/ResumeDefinition.sql
create or replace function taskgate.resume_definition(
  p_name text, p_changed_by text, p_reason text default null, p_expected_paused boolean default null,
  out status text, out ready boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  select c.o_status, c.o_ready into status, ready
    from _set_paused(p_name, false, p_changed_by, p_reason, false, p_expected_paused) c;
end $$;
