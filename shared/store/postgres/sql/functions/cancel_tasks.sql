-- taskgate.cancel_tasks: an operator's cancel: ends tasks that wait anywhere, and asks for the end of those that run.
-- In:     p_task_ids bigint[] 1..1000; p_reason: kept as the error of the tasks that end here, or null;
--         p_changed_by: the actor, for the audit; null: the login
-- Out:    status: done; results: JSON array of {task, outcome, state}, each task once, in input order. outcome: cancelled |
--           requested (it runs or is on the move: its worker is told, and the call that ends or moves the task cancels it) | busy (locked, or on the move, at this moment: ask again) | gone, with its state: done | dead | cancelled | unknown
--         woken: JSON array of definitions that got ready tasks, or null; opening: JSON array of batches to be pumped (pump_batch), or null
-- Raises: TG422 not such a list, an actor that is empty, or a text too long
-- Locks:  scheduled, ready, wave_blocked by skip; dedupe in key order, task_group ascending, of tasks that wait there; group_waiting under its
--         group, ready by skip; then as _end_tasks; last, task by skip: this call waits for nothing more once it holds these rows;
--         as _audit_call
-- Plan:   primary keys, packs as _is_packed; as _take_tasks
-- Once:   naturally: a repeat finds the task gone or asked already, and leaves no entry in the audit
-- Twin:   mssql/sql/procedures/CancelTasks.sql
create or replace function taskgate.cancel_tasks(
  p_task_ids bigint[], p_reason text default null, p_changed_by text default null,
  out status text, out results text, out woken text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  k record;
  c record;
  v_mine bigint[];
  v_requested bigint[];
  v_newly bigint[];                                  -- of them, those that weren't asked before
  v_late bigint[];
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  if coalesce(cardinality(p_task_ids), 0) not between 1 and 1000 or array_ndims(p_task_ids) > 1 or array_position(p_task_ids, null) is not null then
    raise exception 'task_ids: expected 1..1000 ids (%)', coalesce(cardinality(p_task_ids), 0) using errcode = 'TG422';
  end if;
  status := 'done';

  select * into k from _take_tasks(p_task_ids, true);
  v_mine := k.o_scheduled || k.o_ready || k.o_waited;   -- but for the blocked ones, which are counted nowhere

  -- The end of the tasks that this call has taken.
  if p_reason is not null and cardinality(v_mine || k.o_blocked) > 0 then
    update task t set last_error = left(p_reason, 400) where t.task_id = any (v_mine || k.o_blocked);
  end if;
  if cardinality(k.o_blocked) > 0 then
    perform _end_tasks(k.o_blocked, null, array_fill(12::smallint, array[cardinality(k.o_blocked)]), null, null, null, v_now, null, null, true);
  end if;
  if cardinality(v_mine) > 0 then
    select * into c from _end_tasks(v_mine, null, array_fill(12::smallint, array[cardinality(v_mine)]), null, null, null, v_now, null, null);
    woken := _definition_names(c.o_woken, 0);
    opening := _id_list(c.o_opening);
  end if;
  v_mine := v_mine || k.o_blocked;

  -- The rest runs or is on the move. Last: the call that ends such a task waits for this row while it holds others.
  select array_agg(r.task_id), array_agg(r.task_id) filter (where not r.cancel_requested) into v_requested, v_newly
    from (select x.task_id, x.cancel_requested from task x
           where x.task_id = any (k.o_seen) and x.task_id <> all (v_mine) order by x.task_id for update skip locked) r;
  -- One that failed behind the looks above is scheduled by now, and a request would stand there until its time: busy.
  v_late := array(select s.task_id from scheduled s where s.task_id = any (v_requested) and s.run_at > v_now);
  v_requested := array(select u.id from unnest(v_requested) u(id) where u.id <> all (v_late));
  v_newly := array(select u.id from unnest(v_newly) u(id) where u.id <> all (v_late));
  update task t set cancel_requested = true where t.task_id = any (v_newly);
  v_newly := array(select u.id from unnest(v_mine || v_newly) u(id) order by u.id);
  if cardinality(v_newly) > 0 then
    perform _audit_call('cancel_tasks', (select case when min(x.id) = max(x.id) then min(x.id) else 0 end
                                           from (select a.task_definition_id as id from archive a where a.task_id = any (v_newly)
                                                 union all select t.task_definition_id from task t where t.task_id = any (v_newly)) x),
                        null, v_newly, p_changed_by, p_reason, v_now);
  end if;

  select '[' || string_agg(json_build_object('task', x.id::text, 'outcome', x.outcome,
           'state', case when x.outcome = 'gone' then case x.ended when 10 then 'done' when 11 then 'dead' when 12 then 'cancelled' else 'unknown' end end)::text,
           ',' order by x.n) || ']'
    into results
    from (
      select a.id, a.n, h.outcome as ended,
             case when a.id = any (v_mine) then 'cancelled' when a.id = any (v_requested) then 'requested'
                  when h.outcome is null and a.id = any (k.o_seen) then 'busy' else 'gone' end as outcome
        from (select u.id, min(u.n) as n from unnest(p_task_ids) with ordinality u(id, n) group by u.id) a
        left join lateral (select coalesce((select y.outcome from archive y where y.task_id = a.id), case when _is_packed(a.id) then 10 end) as outcome offset 0) h on true) x;
end $$;
