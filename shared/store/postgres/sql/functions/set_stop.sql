-- taskgate.set_stop: says that a stop of everything is on, or that it has ended. It pauses and resumes nothing itself: callers do that by
--         pause_definition and set_schedule_paused with p_is_stop, and by the resumes of what list_stopped lists.
-- In:     p_is_on; p_changed_by (null: the login), p_reason for the audit
-- Out:    status: stopped | resumed | exists (it was so already)
-- Raises: TG422 a bad value
-- Locks:  stop: its one row orders this call against those that make a definition or a schedule, which hold it in share mode to their
--         end. A definition that was made before `stopped` is answered can be read then, so the stop finds it; one made later is paused
--         from its beginning. After `resumed` nothing is made paused any more, and list_stopped tells all that was. A resume beside a stop
--         that still pauses may leave some of them paused: list_stopped tells them, and another resume takes them up
-- Plan:   primary key
-- Once:   by value
-- Twin:   mssql/sql/procedures/SetStop.sql
create or replace function taskgate.set_stop(p_is_on boolean, p_changed_by text, p_reason text default null, out status text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  if p_is_on is null then raise exception 'is_on: expected true or false (<NULL>)' using errcode = 'TG422'; end if;
  perform 1 from stop s where s.stop_id = 1 for no key update;   -- lock, then look
  update stop s
     set stopped_at = case when p_is_on then v_now end, stopped_by = case when p_is_on then p_changed_by end, reason = case when p_is_on then p_reason end
   where s.stop_id = 1 and (s.stopped_at is null) = p_is_on;
  status := case when not found then 'exists' when p_is_on then 'stopped' else 'resumed' end;
  if status <> 'exists' then
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
    values (0, 'stop', (not p_is_on)::text, p_is_on::text, 'operator', p_changed_by, p_reason, v_now);
  end if;
end $$;
