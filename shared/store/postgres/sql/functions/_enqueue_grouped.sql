-- taskgate._enqueue_grouped: the part of enqueue_tasks for calls with groups.
-- In:     p_task_definition_id with p_group_slots, p_group_strict; p_build; p_joins_transaction, p_now; the entries as arrays of one
--         length: p_ids, p_payloads, p_kinds, p_priorities, p_group_keys, p_globals, p_run_ats, p_dedupe_keys, p_traces;
--         p_is_new false: a duplicate, left out
-- Out:    o_ready: some may be claimed at once; o_next_due_ms: the earliest scheduled of them, or null
-- Raises: -
-- Locks:  not when joining a caller's transaction: advisory 43 ascending, for groups that are missing; task_group ascending: tasks of
--         one that a purge removes just then become due, and promotion makes it again. New rows
-- Plan:   uq_task_group_key, one probe per task, two when something is due; one probe of pk_scheduled; primary keys; each group's slots with its first task: nothing is joined that
--         would compare each task with each group
-- Twin:   inside mssql/sql/procedures/EnqueueTasks.sql
create or replace function taskgate._enqueue_grouped(
  p_task_definition_id int, p_group_slots smallint, p_group_strict boolean, p_build bigint, p_joins_transaction boolean, p_now timestamptz,
  p_ids bigint[], p_payloads text[], p_kinds text[], p_priorities smallint[], p_group_keys text[], p_globals boolean[],
  p_run_ats timestamptz[], p_dedupe_keys text[], p_traces text[], p_is_new boolean[],
  out o_ready boolean, out o_next_due_ms bigint)
language plpgsql as $$
declare
  v_is_in boolean[];                                 -- per entry: goes to its group now
  v_locked int[];
  v_scopes int[] := array(select case when u.is_global then 0 else p_task_definition_id end from unnest(p_globals) with ordinality u(is_global, n) order by u.n);
  v_groups int[];
begin
  v_is_in := array(select u.key is not null and u.is_new and u.run_at is null and not p_joins_transaction
                     from unnest(p_group_keys, p_is_new, p_run_ats) with ordinality u(key, is_new, run_at, n) order by u.n);
  -- A strict group's task doesn't overtake one that is due and not promoted yet: it is due now, too, and promotion keeps the order.
  if true = any (v_is_in) and exists (
       select 1 from scheduled s where s.task_definition_id = p_task_definition_id and s.run_at <= p_now) then
    v_is_in := array(select u.is_in and not coalesce((select g.strict from task_group g where g.task_definition_id = u.scope and g.group_key = u.key), p_group_strict)
                       from unnest(v_is_in, v_scopes, p_group_keys) with ordinality u(is_in, scope, key, n) order by u.n);
  end if;
  v_groups := array(select case when u.is_in then (select g.group_id from task_group g where g.task_definition_id = u.scope and g.group_key = u.key) end
                      from unnest(v_is_in, v_scopes, p_group_keys) with ordinality u(is_in, scope, key, n) order by u.n);
  if exists (select 1 from unnest(v_groups, v_is_in) u(id, is_in) where u.id is null and u.is_in) then
    -- Who makes a group holds its latch to the end. Promotion, which may hold other groups, only tries for it: it must not wait
    -- for a new key in an index.
    perform pg_advisory_xact_lock(43, m.latch)
       from (select distinct _group_latch(u.scope, u.key) as latch from unnest(v_groups, v_scopes, p_group_keys, v_is_in) u(id, scope, key, is_in)
              where u.id is null and u.is_in order by 1) m;
    insert into task_group (task_definition_id, group_key, slots, strict)
    select u.scope, u.key, p_group_slots, p_group_strict
      from (select distinct x.scope, x.key from unnest(v_groups, v_scopes, p_group_keys, v_is_in) x(id, scope, key, is_in)
             where x.id is null and x.is_in) u
     where (select g.group_id from task_group g where g.task_definition_id = u.scope and g.group_key = u.key) is null
     order by u.scope, u.key
    on conflict do nothing;
    v_groups := array(select case when u.is_in then (select g.group_id from task_group g where g.task_definition_id = u.scope and g.group_key = u.key) end
                        from unnest(v_is_in, v_scopes, p_group_keys) with ordinality u(is_in, scope, key, n) order by u.n);
  end if;
  -- Lock, then look. A group that has been removed meanwhile isn't locked: promotion makes it again.
  v_locked := array(select g.group_id from task_group g where g.group_id = any (v_groups) order by g.group_id for no key update);
  with new as materialized (
    select u.id, u.payload, u.kind, u.priority, u.group_key, u.is_global, u.dedupe_key, u.trace, g.group_id,
           case when u.group_key is not null and g.group_id is null then coalesce(u.run_at, p_now) else u.run_at end as starts_at
      from unnest(p_ids, p_payloads, p_kinds, p_priorities, p_group_keys, p_globals, p_run_ats, p_dedupe_keys, p_traces, p_is_new, v_groups)
           as u(id, payload, kind, priority, group_key, is_global, run_at, dedupe_key, trace, is_new, group_id)
     cross join lateral (select case when (u.group_id in (select unnest(v_locked))) is true then u.group_id end as group_id) g where u.is_new),   -- hashed: not each with each
  ranked as materialized (
    select n.id, n.priority, n.group_id, row_number() over (partition by n.group_id order by n.priority, n.id) as n
      from new n where n.starts_at is null),
  gate as materialized (                             -- with each group's first task: the slots that may be filled
    select r.*, case when r.n = 1 then (
             select case when g.paused or exists (select 1 from group_waiting w where w.group_id = g.group_id) then '{}'
                         else array(select f.slot from generate_series(1, g.slots) f(slot)
                                     where not exists (select 1 from group_slot s where s.group_id = g.group_id and s.slot = f.slot)
                                     order by f.slot limit greatest(g.slots - (select count(*) from group_slot s where s.group_id = g.group_id), 0)) end
               from task_group g where g.group_id = r.group_id) end as empty
      from ranked r),
  placed as materialized (
    select g.id, g.priority, g.group_id, (first_value(g.empty) over (partition by g.group_id order by g.n))[g.n] as slot from gate g),
  added as (insert into task (task_id, task_definition_id, kind, priority, created_at, due_at, group_id, pending_group_key, pending_group_is_global, dedupe_key, build, trace_parent, payload)
            select n.id, p_task_definition_id, n.kind, n.priority, p_now, case when n.starts_at > p_now then n.starts_at end, n.group_id,
                   case when n.group_id is null then n.group_key end, case when n.group_id is null and n.group_key is not null then coalesce(n.is_global, false) end,
                   n.dedupe_key, p_build, n.trace, n.payload from new n),
  slotted as (insert into group_slot (group_id, slot, task_id)
              select p.group_id, p.slot, p.id from placed p where p.slot is not null),
  waiting as (insert into group_waiting (group_id, priority, rank, task_id, task_definition_id)
              select p.group_id, p.priority, 0, p.id, p_task_definition_id from placed p where p.group_id is not null and p.slot is null),
  opened as (insert into ready (task_definition_id, priority, rank, task_id)
             select p_task_definition_id, p.priority, 0, p.id from placed p where p.group_id is null or p.slot is not null),
  later as (insert into scheduled (task_definition_id, run_at, task_id)
            select p_task_definition_id, n.starts_at, n.id from new n where n.starts_at is not null)
  select coalesce((select bool_or(p.group_id is null or p.slot is not null) from placed p), false),
         (select case when min(n.starts_at) is not null then greatest(ceil(extract(epoch from min(n.starts_at) - p_now) * 1000), 0)::bigint end from new n where n.starts_at is not null)
    into o_ready, o_next_due_ms;
end $$;
