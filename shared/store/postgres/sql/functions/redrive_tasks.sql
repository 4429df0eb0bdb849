-- taskgate.redrive_tasks: dead or cancelled tasks become tasks again, with the same ids: counters at 0, attempts kept. In a wave that
--         hasn't ended they count again: blocked until it opens, or open as the others; so they do in the wave behind which their batch
--         halted, which is open again then. When another wave has ended they come back on their own.
--         What they do then is a trace of its own: the archive doesn't keep the one that they were enqueued in.
-- In:     p_task_ids bigint[] 1..1000; or null and a filter: p_name: the definition; p_kind: or null for all;
--         p_outcome: dead (null: so) | cancelled; p_max int 1..1000: the oldest so many; p_changed_by (null: the login), p_reason for the audit
-- Out:    status: done; results: JSON array of {task, outcome}, each task once, ids in input order, found ones oldest first.
--           outcome: redriven | duplicate (another task holds its dedupe key: it stays) | busy (locked at this moment: ask again) |
--           unfinished (it is a task already) | done (it ended well) | unknown
--         woken: JSON array of definitions that got ready tasks, or due ones whose group is still to be made, or null
-- Raises: TG404 unknown definition; TG422 a bad value
-- Locks:  archive by skip, ended_early of these tasks; gates of waves that aren't open, ascending and shared, as _enter_wave; dedupe in
--         key order (enqueues of an equal key), by definition; task_group ascending; waves and batches as _rejoin_waves; new rows; as _audit_call
-- Plan:   primary keys, packs as _is_packed; ix_archive_finished from its old end, with no sort of a whole state, as list_tasks
-- Once:   naturally: a repeat finds the task unfinished, and leaves no entry in the audit
-- Twin:   mssql/sql/procedures/RedriveTasks.sql
create or replace function taskgate.redrive_tasks(
  p_task_ids bigint[], p_name text default null, p_kind text default null, p_outcome text default null, p_max int default null,
  p_changed_by text default null, p_reason text default null, out status text, out results text, out woken text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  v_asked bigint[];
  v_mine bigint[];                                   -- locked, dead or cancelled
  v_done bigint[];
  v_duplicates bigint[] := '{}';
  v_woken int[];
  v_blocked bigint[] := '{}';                           -- waves that aren't open yet
  v_open bigint[] := '{}';
  v_ended bigint[];
  v_state smallint;
  v_wave bigint;
  v_part record;
  v_taken record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  status := 'done';
  -- 1. Which ones, with nothing locked.
  if p_task_ids is not null then
    if cardinality(p_task_ids) not between 1 and 1000 or array_ndims(p_task_ids) > 1 or array_position(p_task_ids, null) is not null then
      raise exception 'task_ids: expected 1..1000 ids (%)', cardinality(p_task_ids) using errcode = 'TG422';
    end if;
    if p_name is not null then raise exception 'name: expected either task_ids or a filter, not both' using errcode = 'TG422'; end if;
    v_asked := array(select u.id from unnest(p_task_ids) with ordinality u(id, n) group by u.id order by min(u.n));
  else
    perform _check_range('max', p_max, 1, 1000);
    if p_outcome not in ('dead', 'cancelled') then
      raise exception 'outcome: expected dead or cancelled (%)', left(p_outcome, 220) using errcode = 'TG422';
    end if;
    v_definition := _find_definition(p_name);
    v_asked := array(
      select a.task_id from archive a
       where a.task_definition_id = v_definition and a.outcome = case p_outcome when 'cancelled' then 12 else 11 end
         and (p_kind is null or a.kind = p_kind)
       order by a.finished_at, a.task_id limit p_max);
  end if;

  -- 2. Tasks that no other call redrives or purges at this moment.
  select array_agg(x.task_id) filter (where x.outcome <> 10), array_agg(x.task_id) filter (where x.outcome = 10) into v_mine, v_done
    from (select a.task_id, a.outcome from archive a where a.task_id = any (v_asked) order by a.task_id for update skip locked) x;

  -- 3. Waves. One that isn't open yet isn't opened now; one that is may still end.
  for v_wave in select distinct a.wave_id from archive a where a.task_id = any (v_mine) and a.wave_id is not null order by 1 loop
    select x.state into v_state from wave x where x.wave_id = v_wave;
    if v_state = 0 then
      if _enter_wave(v_wave, true) then v_blocked := v_blocked || v_wave; end if;
      select x.state into v_state from wave x where x.wave_id = v_wave;  -- it may have been opened meanwhile
    end if;
    -- One that has ended takes them again where its batch stands behind it.
    if v_state in (1, 2) or v_state = 3 and exists (select 1 from wave x join batch b on b.batch_id = x.batch_id where x.wave_id = v_wave and b.state = 2) then
      v_open := v_open || v_wave;
    end if;
  end loop;

  -- 4. Keys, as an enqueue takes them: expired ones are replaced; who finds one taken is a duplicate.
  for v_part in with keyed as materialized (         -- by their ids first: an index in the groups' order has all tasks
             select a.task_definition_id, a.task_id, a.dedupe_key from archive a where a.task_id = any (v_mine) and a.dedupe_key is not null)
           select k.task_definition_id, array_agg(k.task_id order by k.task_id) as ids, array_agg(k.dedupe_key order by k.task_id) as keys
             from keyed k group by k.task_definition_id order by k.task_definition_id loop
    select * into v_taken from _take_keys(v_part.task_definition_id, v_part.ids, v_part.keys, array_fill(null::bigint, array[cardinality(v_part.ids)]), v_now);
    v_duplicates := v_duplicates || array(select u.id from unnest(v_part.ids, v_taken.o_is_new) u(id, is_new) where not u.is_new);
  end loop;
  v_mine := array(select u.id from unnest(v_mine) u(id) where u.id <> all (v_duplicates) order by u.id);

  -- 5. Groups: locked ascending, then looked at.
  perform 1 from task_group g
    where g.group_id = any (array(select a.group_id from archive a where a.task_id = any (v_mine))) order by g.group_id for no key update;

  -- 6. Waves that are open, or will be again, count them.
  if cardinality(v_open) > 0 then
    select _rejoin_waves(array_agg(a.task_id), array_agg(a.wave_id), array_agg(case when e.was_blocked then 0::smallint else a.outcome end)) into v_ended
      from archive a left join ended_early e on e.task_id = a.task_id
     where a.task_id = any (v_mine) and a.wave_id = any (v_open);
    v_open := array(select u.id from unnest(v_open) u(id) where u.id <> all (coalesce(v_ended, '{}')));
  end if;

  -- 7. Back, each into its container.
  with early as (
    delete from ended_early e where e.task_id = any (v_mine) returning e.*),
  gone as (
    delete from archive a where a.task_id = any (v_mine) returning a.*),
  added as (
    insert into task (task_id, task_definition_id, kind, priority, rank, created_at, group_id, pending_group_key, pending_group_is_global, wave_id,
                      dedupe_key, build, payload, last_error, trace_parent)
    select g.task_id, g.task_definition_id, g.kind, g.priority, g.rank, g.created_at, g.group_id, e.pending_group_key, e.pending_group_is_global,
           case when g.wave_id = any (v_blocked || v_open) then g.wave_id end, g.dedupe_key, g.build, g.payload, g.error, g.trace_parent
      from gone g left join early e on e.task_id = g.task_id),   -- outside a group a task has its key only
  blocked as (insert into wave_blocked (wave_id, priority, rank, task_id, task_definition_id)
           select g.wave_id, g.priority, g.rank, g.task_id, g.task_definition_id from gone g where g.wave_id = any (v_blocked)),
  later as (                                         -- promotion makes the group
    insert into scheduled (task_definition_id, run_at, task_id)
    select g.task_definition_id, v_now, g.task_id from gone g join early e on e.task_id = g.task_id
     where e.pending_group_key is not null and (g.wave_id = any (v_blocked)) is not true
    returning task_definition_id),
  ranked as materialized (
    select g.task_id, g.task_definition_id, g.priority, g.rank, g.group_id,
           row_number() over (partition by g.group_id order by g.priority, g.rank, g.task_id) as n
      from gone g left join early e on e.task_id = g.task_id
     where e.pending_group_key is null and (g.wave_id = any (v_blocked)) is not true),
  gate as materialized (                             -- with each group's first task: the slots that may be filled
    select r.*, case when r.n = 1 then (
             select case when g.paused or exists (select 1 from group_waiting w where w.group_id = g.group_id) then '{}'
                         else array(select f.slot from generate_series(1, g.slots) f(slot)
                                     where not exists (select 1 from group_slot s where s.group_id = g.group_id and s.slot = f.slot)
                                     order by f.slot limit greatest(g.slots - (select count(*) from group_slot s where s.group_id = g.group_id), 0)) end
               from task_group g where g.group_id = r.group_id) end as empty
      from ranked r),
  placed as materialized (
    select g.*, (first_value(g.empty) over (partition by g.group_id order by g.n))[g.n] as slot from gate g),
  slotted as (insert into group_slot (group_id, slot, task_id)
              select p.group_id, p.slot, p.task_id from placed p where p.slot is not null),
  waiting as (insert into group_waiting (group_id, priority, rank, task_id, task_definition_id)
              select p.group_id, p.priority, p.rank, p.task_id, p.task_definition_id from placed p where p.group_id is not null and p.slot is null),
  opened as (insert into ready (task_definition_id, priority, rank, task_id)
             select p.task_definition_id, p.priority, p.rank, p.task_id from placed p where p.group_id is null or p.slot is not null)
  select array_agg(distinct x.id) into v_woken
    from (select p.task_definition_id as id from placed p where p.group_id is null or p.slot is not null
          union all select l.task_definition_id from later l) x;
  woken := _definition_names(v_woken, 0);
  if cardinality(v_mine) > 0 then
    perform _audit_call('redrive_tasks', (select case when min(t.task_definition_id) = max(t.task_definition_id) then min(t.task_definition_id) else 0 end
                                            from task t where t.task_id = any (v_mine)), null, v_mine, p_changed_by, p_reason, v_now);
  end if;

  select coalesce('[' || string_agg(json_build_object('task', u.id::text, 'outcome',
           case when u.id = any (v_mine) then 'redriven' when u.id = any (v_duplicates) then 'duplicate' when u.id = any (v_done) or _is_packed(u.id) then 'done'
                when exists (select 1 from archive a where a.task_id = u.id) then 'busy'
                when exists (select 1 from task t where t.task_id = u.id) then 'unfinished' else 'unknown' end)::text, ',' order by u.n) || ']', '[]')
    into results
    from unnest(v_asked) with ordinality u(id, n);
end $$;
