-- taskgate.promote_scheduled: makes due tasks of a definition claimable: ready, or waiting for their group.
-- In:     p_name; p_max int 1..10000
-- Out:    status: promoted | none; promoted: how many; next_due_ms: until the next one, 0 when more are due; ready: tasks may be claimed
-- Raises: TG404 unknown definition; TG422 max out of range
-- Locks:  scheduled by skip, task_group by skip; of a task whose group it finds or makes the row of task, behind a cancel that asks for
--         its end: that is the last thing which that one does. Else it never waits
-- Plan:   first entries of pk_scheduled under the definition
-- Once:   naturally: a promoted task isn't scheduled any more
-- Twin:   mssql/sql/procedures/PromoteScheduled.sql
create or replace function taskgate.promote_scheduled(
  p_name text, p_max int, out status text, out promoted int, out next_due_ms bigint, out ready boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_definition int;
begin
  perform _check_range('max', p_max, 1, 10000);
  v_definition := _find_definition(p_name);
  promoted := _promote(v_definition, p_max, _now());
  status := case when promoted > 0 then 'promoted' else 'none' end;
  next_due_ms := _next_due_ms(v_definition);
  ready := exists (select 1 from taskgate.ready r where r.task_definition_id = v_definition);
end $$;
