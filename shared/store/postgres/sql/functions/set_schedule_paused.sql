-- taskgate.set_schedule_paused: pauses a schedule or lets it go on. Instants that pass while it is paused aren't fired later.
-- In:     p_name: the definition; p_schedule: the schedule's name; p_paused; p_next_run_at ISO-8601: where it goes on when it is resumed
--           and its next instant has passed, computed from list_schedules' now_at, or null: never; p_changed_by (null: the login), p_reason for the audit; p_is_stop: the pause is part of a stop of everything
--           (list_stopped), else the operator's own; p_expected_paused: only if it is so now; null: either
-- Out:    status: paused | resumed | exists (it was so already) | conflict (it isn't as expected: nothing was written); next_due_ms bigint: until the next instant, 0 when it is due, null
--           while paused
-- Raises: TG404 unknown definition or schedule; TG422 a bad value
-- Locks:  schedule, new row, then its row in stopped_schedule
-- Plan:   unique names, primary key
-- Once:   by value
-- Twin:   mssql/sql/procedures/SetSchedulePaused.sql
create or replace function taskgate.set_schedule_paused(
  p_name text, p_schedule text, p_paused boolean, p_next_run_at text, p_changed_by text, p_reason text default null,
  p_is_stop boolean default false, p_expected_paused boolean default null,
  out status text, out next_due_ms bigint)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  v_next timestamptz;
  s record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  if p_paused is null then raise exception 'paused: expected true or false (<NULL>)' using errcode = 'TG422'; end if;
  if p_next_run_at is not null and _instant(p_next_run_at) is null then
    raise exception 'next_run_at: expected an ISO-8601 instant with its zone (%)', left(p_next_run_at, 100) using errcode = 'TG422';
  end if;
  v_definition := _find_definition(p_name);
  select x.schedule_id, x.paused, x.next_run_at into s
    from schedule x where x.task_definition_id = v_definition and x.name = p_schedule for update;
  if not found then raise exception 'schedule: unknown (%)', p_schedule using errcode = 'TG404'; end if;
  status := case when s.paused <> p_expected_paused then 'conflict' when s.paused = p_paused then 'exists' when p_paused then 'paused' else 'resumed' end;
  v_next := case when status = 'resumed' and s.next_run_at <= v_now then _instant(p_next_run_at) else s.next_run_at end;
  if status in ('paused', 'resumed') then
    update schedule x set paused = p_paused, next_run_at = v_next where x.schedule_id = s.schedule_id;
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
    values (v_definition, 'schedule_paused', (not p_paused)::text || ' of ' || p_schedule, p_paused::text || ' of ' || p_schedule, 'operator', p_changed_by, p_reason, v_now);
  end if;
  if status in ('paused', 'resumed') or status = 'exists' and p_is_stop is not true then
    delete from stopped_schedule x where x.schedule_id = s.schedule_id;
    if found and status = 'exists' then   -- the stop's pause is the operator's own now
      insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
      values (v_definition, 'schedule_paused', 'stopped of ' || p_schedule, 'true of ' || p_schedule, 'operator', p_changed_by, p_reason, v_now);
    end if;
  end if;
  if status = 'paused' and p_is_stop then
    insert into stopped_schedule (schedule_id, stopped_at, stopped_by, reason) values (s.schedule_id, v_now, p_changed_by, p_reason);
  end if;
  if not p_paused and status <> 'conflict' and v_next is not null then next_due_ms := greatest(ceil(extract(epoch from v_next - v_now) * 1000), 0)::bigint; end if;
end $$;
