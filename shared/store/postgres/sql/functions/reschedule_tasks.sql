-- taskgate.reschedule_tasks: another instant for scheduled tasks; ready and waiting ones are scheduled.
-- In:     p_task_ids bigint[] 1..1000; either p_run_in_ms bigint 0..3153600000000 or p_run_at ISO-8601 (past: due at once);
--         p_changed_by (null: the login), p_reason for the audit
-- Out:    status: done; results: JSON array of {task, outcome, state}, each task once, in input order. outcome: rescheduled |
--           running | blocked (its wave isn't open) | busy (on the move at this moment: ask again) | gone, with its state: done | dead |
--           cancelled | unknown
--         next_due_ms bigint: until the new instant, null when nothing was rescheduled; definitions: JSON array of names of those that
--         got scheduled tasks, or null; woken: of those that got ready tasks by hand-over, or null
-- Raises: TG422 a bad value
-- Locks:  scheduled, ready by skip; task_group ascending, of tasks that wait there; group_waiting under its group, ready by skip; task
--         of these; then as _hand_over, _audit_call. A strict group's slot stays with its task, so that no other task overtakes it
-- Plan:   primary keys, packs as _is_packed; as _take_tasks
-- Once:   by value with p_run_at; with p_run_in_ms a repeat counts from then; each that moves a task leaves an entry in the audit
-- Twin:   mssql/sql/procedures/RescheduleTasks.sql
create or replace function taskgate.reschedule_tasks(
  p_task_ids bigint[], p_run_in_ms bigint, p_run_at text, p_changed_by text default null, p_reason text default null,
  out status text, out results text, out next_due_ms bigint, out definitions text, out woken text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_at timestamptz;
  k record;
  v_mine bigint[];
  v_left bigint[];
  v_left_groups int[];
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  if coalesce(cardinality(p_task_ids), 0) not between 1 and 1000 or array_ndims(p_task_ids) > 1 or array_position(p_task_ids, null) is not null then
    raise exception 'task_ids: expected 1..1000 ids (%)', coalesce(cardinality(p_task_ids), 0) using errcode = 'TG422';
  end if;
  if (p_run_in_ms is null) = (p_run_at is null) then raise exception 'run_at: expected either run_at or run_in_ms' using errcode = 'TG422'; end if;
  if p_run_in_ms is not null then perform _check_range('run_in_ms', p_run_in_ms, 0, 3153600000000); end if;
  if p_run_at is not null and _instant(p_run_at) is null then
    raise exception 'run_at: expected an ISO-8601 instant with its zone (%)', left(p_run_at, 100) using errcode = 'TG422';
  end if;
  v_at := greatest(coalesce(_instant(p_run_at), date_trunc('milliseconds', v_now + p_run_in_ms * interval '1 ms')), v_now);
  status := 'done';

  select * into k from _take_tasks(p_task_ids, false);
  v_mine := k.o_scheduled || k.o_ready || k.o_waited;

  -- Each to its new place.
  insert into scheduled (task_definition_id, run_at, task_id)
  select t.task_definition_id, v_at, t.task_id from task t where t.task_id = any (v_mine);
  if cardinality(v_mine) > 0 then
    update task t set due_at = v_at where t.task_id = any (v_mine);
    next_due_ms := greatest(ceil(extract(epoch from v_at - v_now) * 1000), 0)::bigint;
    definitions := _definition_names(array(select t.task_definition_id from task t where t.task_id = any (v_mine)), 0);
    perform _audit_call('reschedule_tasks', (select case when min(t.task_definition_id) = max(t.task_definition_id) then min(t.task_definition_id) else 0 end
                                               from task t where t.task_id = any (v_mine)), null,
                        array(select u.id from unnest(v_mine) u(id) order by u.id), p_changed_by, p_reason, v_now);
  end if;
  select array_agg(t.task_id), array_agg(t.group_id) into v_left, v_left_groups
    from task t join task_group g on g.group_id = t.group_id where t.task_id = any (k.o_ready || k.o_waited) and not g.strict;
  update task t set group_id = null, pending_group_key = g.group_key, pending_group_is_global = g.task_definition_id = 0
    from task_group g                                -- outside a group a task has its key only
   where t.task_id = any (k.o_waited || k.o_ready) and g.group_id = t.group_id and (not g.strict or t.task_id = any (k.o_waited));
  if v_left is not null then woken := _definition_names(_hand_over(v_left, v_left_groups), 0); end if;

  select '[' || string_agg(json_build_object('task', x.id::text, 'outcome', x.outcome,
           'state', case when x.outcome = 'gone' then case x.ended when 10 then 'done' when 11 then 'dead' when 12 then 'cancelled' else 'unknown' end end)::text,
           ',' order by x.n) || ']'
    into results
    from (
      select a.id, a.n, h.outcome as ended,
             case when a.id = any (v_mine) then 'rescheduled' when h.outcome is not null or t.task_id is null then 'gone'
                  when exists (select 1 from wave_blocked w where w.wave_id = t.wave_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id) then 'blocked'
                  when exists (select 1 from task_execution e where e.task_definition_id = t.task_definition_id and e.state in (1, 3) and a.id = any (e.inflight)) then 'running'
                  else 'busy' end as outcome
        from (select u.id, min(u.n) as n from unnest(p_task_ids) with ordinality u(id, n) group by u.id) a
        left join lateral (select coalesce((select y.outcome from archive y where y.task_id = a.id), case when _is_packed(a.id) then 10 end) as outcome offset 0) h on true
        left join lateral (select y.task_id, y.task_definition_id, y.wave_id, y.priority, y.rank from task y where y.task_id = a.id offset 0) t on true) x;
end $$;
