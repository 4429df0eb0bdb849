-- taskgate.cancel_tasks: an operator's cancel: ends tasks that wait anywhere, and asks for the end of those that run.
-- In:     p_task_ids bigint[] 1..1000; p_reason: kept as the error of the tasks that end here, or null;
--         p_changed_by: the actor, for the audit
-- Out:    status: done; results: JSON array of {task, outcome, state}, each task once, in input order. outcome: cancelled |
--           requested (it runs or is on the move: its worker is told, and the call that ends or moves the task cancels it) | busy (locked at this moment: ask again) | gone, with its state: done | dead | cancelled | unknown
--         woken: JSON array of definitions that got ready tasks, or null; opening: JSON array of batches to be pumped (pump_batch), or null
-- Raises: TG422 not such a list, a reason or an actor that is too long
-- Locks:  scheduled, ready, wave_blocked by skip; dedupe in key order, task_group ascending, of tasks that wait there; group_waiting under its
--         group, ready by skip; then as _end_tasks; last, task by skip: this call waits for nothing more once it holds these rows;
--         as _audit_call
-- Plan:   primary keys, packs as _is_packed; the scheduled tasks of a definition once, when one of its tasks stands nowhere else
-- Once:   naturally: a repeat finds the task gone or asked already, and leaves no entry in the audit
-- Twin:   mssql/sql/procedures/CancelTasks.sql
create or replace function taskgate.cancel_tasks(
  p_task_ids bigint[], p_reason text default null, p_changed_by text default null,
  out status text, out results text, out woken text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_now timestamptz := _now();
  v_seen bigint[];                                   -- unfinished as of now
  v_waiting bigint[];
  v_elsewhere int[];                                -- definitions of those that stand neither here nor there
  v_scheduled bigint[] := '{}';
  v_ready bigint[] := '{}';
  v_waited bigint[] := '{}';
  v_blocked bigint[] := '{}';
  v_locked int[];
  c record;
  v_mine bigint[];
  v_requested bigint[];
  v_newly bigint[];                                  -- of them, those that weren't asked before
  v_definition int;
begin
  if _audit_problem(p_changed_by, p_reason) is not null then raise exception '%', _audit_problem(p_changed_by, p_reason) using errcode = 'TG422'; end if;
  if coalesce(cardinality(p_task_ids), 0) not between 1 and 1000 or array_position(p_task_ids, null) is not null then
    raise exception 'task_ids: expected 1..1000 ids (%)', coalesce(cardinality(p_task_ids), 0) using errcode = 'TG422';
  end if;
  status := 'done';

  -- 1. Where they seem to be, with nothing locked.
  select array_agg(t.task_id), array_agg(t.task_id) filter (where p.is_waiting),
         array_agg(distinct t.task_definition_id) filter (where not p.is_waiting and not p.is_ready and not p.is_blocked),
         case when min(t.task_definition_id) = max(t.task_definition_id) then min(t.task_definition_id) else 0 end
    into v_seen, v_waiting, v_elsewhere, v_definition
    from (select distinct u.id from unnest(p_task_ids) u(id)) a
    join task t on t.task_id = a.id
   cross join lateral (
     select exists (select 1 from group_waiting w
                     where w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id) as is_waiting,
            exists (select 1 from ready r where r.task_definition_id = t.task_definition_id and r.priority = t.priority
                       and r.rank = t.rank and r.task_id = t.task_id) as is_ready,
            exists (select 1 from wave_blocked h where h.wave_id = t.wave_id and h.priority = t.priority
                       and h.rank = t.rank and h.task_id = t.task_id) as is_blocked) p;

  -- 2. Tasks that no other call is taking: first the scheduled ones, as they become ready and not the other way round.
  if v_elsewhere is not null then
    v_scheduled := array(
      select s.task_id from scheduled s
       where s.task_definition_id = any (v_elsewhere) and s.task_id = any (v_seen) for update skip locked);
  end if;
  v_ready := array(
    select r.task_id
      from unnest(v_seen) u(id) join task t on t.task_id = u.id
      join ready r on r.task_definition_id = t.task_definition_id and r.priority = t.priority and r.rank = t.rank and r.task_id = t.task_id
     where u.id <> all (v_scheduled) for update of r skip locked);
  v_blocked := array(
    select h.task_id
      from unnest(v_seen) u(id) join task t on t.task_id = u.id
      join wave_blocked h on h.wave_id = t.wave_id and h.priority = t.priority and h.rank = t.rank and h.task_id = t.task_id
     where u.id <> all (v_scheduled || v_ready) for update of h skip locked);
  v_mine := v_scheduled || v_ready || v_blocked;

  -- 3. Their keys, then their groups: each level once, ascending.
  perform (select k.task_id from dedupe k
            where k.task_definition_id = x.task_definition_id and k.dedupe_key = x.dedupe_key and k.task_id = x.task_id
              and k.expires_at is null for update)
     from (select t.task_definition_id, t.dedupe_key, t.task_id from task t
            where t.task_id = any (v_mine || v_waiting) and t.dedupe_key is not null order by t.task_definition_id, t.dedupe_key) x;
  v_locked := array(
    select g.group_id from task_group g
     where g.group_id = any (array(select t.group_id from task t where t.task_id = any (v_mine || v_waiting)))
     order by g.group_id for no key update);         -- lock, then look

  -- 4. Tasks that wait in these groups; one that has left may have become ready meanwhile.
  if v_waiting is not null then
    v_waited := array(
      select w.task_id
        from unnest(v_waiting) u(id) join task t on t.task_id = u.id
        join group_waiting w on w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id
       where u.id <> all (v_mine) and t.group_id = any (v_locked));   -- not one that has come into another group
    v_ready := v_ready || array(
      select r.task_id
        from unnest(v_waiting) u(id) join task t on t.task_id = u.id
        join ready r on r.task_definition_id = t.task_definition_id and r.priority = t.priority and r.rank = t.rank and r.task_id = t.task_id
       where u.id <> all (v_mine || v_waited) and t.group_id = any (v_locked) for update of r skip locked);
  end if;
  v_mine := v_scheduled || v_ready || v_waited;   -- but for the blocked ones, which are counted nowhere

  -- 5. The end of the tasks that this call has taken.
  delete from scheduled s where s.task_definition_id = any (v_elsewhere) and s.task_id = any (v_scheduled);
  delete from ready d where d.ctid = any (array(     -- one probe per task, here and below: a join would be free to read all entries
    select (select r.ctid from ready r where r.task_definition_id = t.task_definition_id and r.priority = t.priority and r.rank = t.rank
               and r.task_id = t.task_id)
      from task t where t.task_id = any (v_ready)));
  delete from group_waiting d where d.ctid = any (array(
    select (select w.ctid from group_waiting w where w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank
               and w.task_id = t.task_id)
      from task t where t.task_id = any (v_waited)));
  delete from wave_blocked d where d.ctid = any (array(
    select (select h.ctid from wave_blocked h where h.wave_id = t.wave_id and h.priority = t.priority and h.rank = t.rank
               and h.task_id = t.task_id)
      from task t where t.task_id = any (v_blocked)));
  if p_reason is not null and cardinality(v_mine || v_blocked) > 0 then
    update task t set last_error = left(p_reason, 400) where t.task_id = any (v_mine || v_blocked);
  end if;
  if cardinality(v_blocked) > 0 then
    perform _end_tasks(v_blocked, null, array_fill(12::smallint, array[cardinality(v_blocked)]), null, null, null, v_now, null, null, true);
  end if;
  if cardinality(v_mine) > 0 then
    select * into c from _end_tasks(v_mine, null, array_fill(12::smallint, array[cardinality(v_mine)]), null, null, null, v_now, null, null);
    woken := _definition_names(c.o_woken, 0);
    opening := _id_list(c.o_opening);
  end if;
  v_mine := v_mine || v_blocked;

  -- 6. The rest runs or is on the move. Last: the call that ends such a task waits for this row while it holds others.
  select array_agg(r.task_id), array_agg(r.task_id) filter (where not r.cancel_requested) into v_requested, v_newly
    from (select x.task_id, x.cancel_requested from task x
           where x.task_id = any (v_seen) and x.task_id <> all (v_mine) order by x.task_id for update skip locked) r;
  update task t set cancel_requested = true where t.task_id = any (v_newly);
  v_newly := array(select u.id from unnest(v_mine || v_newly) u(id) order by u.id);
  if cardinality(v_newly) > 0 then perform _audit_call('cancel_tasks', v_definition, null, v_newly, p_changed_by, p_reason, v_now); end if;

  select '[' || string_agg(json_build_object('task', x.id::text, 'outcome', x.outcome,
           'state', case when x.outcome = 'gone' then case x.ended when 10 then 'done' when 11 then 'dead' when 12 then 'cancelled' else 'unknown' end end)::text,
           ',' order by x.n) || ']'
    into results
    from (
      select a.id, a.n, h.outcome as ended,
             case when a.id = any (v_mine) then 'cancelled' when a.id = any (v_requested) then 'requested'
                  when h.outcome is null and a.id = any (v_seen) then 'busy' else 'gone' end as outcome
        from (select u.id, min(u.n) as n from unnest(p_task_ids) with ordinality u(id, n) group by u.id) a
        left join lateral (select coalesce((select y.outcome from archive y where y.task_id = a.id), case when _is_packed(a.id) then 10 end) as outcome offset 0) h on true) x;
end $$;
