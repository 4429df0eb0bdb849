-- taskgate._enqueue_grouped: the part of enqueue_tasks for calls with groups.
-- In:     p_task_definition_id with p_group_slots, p_group_strict; p_build; p_joins_transaction, p_now; the entries as arrays of one
--         length: p_ids, p_payloads, p_kinds, p_priorities, p_group_keys, p_globals, p_run_ats, p_dedupe_keys, p_traces;
--         p_is_new false: a duplicate, left out
-- Out:    o_ready: some may be claimed at once; o_next_due_ms: the earliest scheduled of them, or null
-- Raises: -
-- Locks:  task_group ascending (not when joining a caller's transaction), new rows
-- Plan:   uq_task_group_key, primary keys
-- Twin:   inside mssql/sql/procedures/EnqueueTasks.sql
create or replace function taskgate._enqueue_grouped(
  p_task_definition_id int, p_group_slots smallint, p_group_strict boolean, p_build bigint, p_joins_transaction boolean, p_now timestamptz,
  p_ids bigint[], p_payloads text[], p_kinds text[], p_priorities smallint[], p_group_keys text[], p_globals boolean[],
  p_run_ats timestamptz[], p_dedupe_keys text[], p_traces text[], p_is_new boolean[],
  out o_ready boolean, out o_next_due_ms bigint)
language plpgsql as $$
declare
  v_scopes int[] := array(select case when u.is_global then 0 else p_task_definition_id end from unnest(p_globals) with ordinality u(is_global, n) order by u.n);
  v_groups int[];
begin
  if not p_joins_transaction then
    insert into task_group (task_definition_id, group_key, slots, is_strict)
    select u.scope, u.key, p_group_slots, p_group_strict
      from (select distinct x.scope, x.key from unnest(v_scopes, p_group_keys, p_is_new) x(scope, key, is_new) where x.key is not null and x.is_new) u
     where not exists (select 1 from task_group g where g.task_definition_id = u.scope and g.group_key = u.key)
     order by u.scope, u.key
    on conflict do nothing;
  end if;
  v_groups := array(select g.group_id from unnest(v_scopes, p_group_keys) with ordinality u(scope, key, n)
                      left join task_group g on g.task_definition_id = u.scope and g.group_key = u.key order by u.n);
  if not p_joins_transaction then                    -- lock, then look
    perform 1 from task_group g where g.group_id = any (v_groups) order by g.group_id for no key update;
  end if;
  with new as materialized (
    select u.*, case when p_joins_transaction and u.group_key is not null then coalesce(u.run_at, p_now) else u.run_at end as starts_at
      from unnest(p_ids, p_payloads, p_kinds, p_priorities, p_group_keys, p_globals, p_run_ats, p_dedupe_keys, p_traces, p_is_new, v_groups)
           as u(id, payload, kind, priority, group_key, is_global, run_at, dedupe_key, trace, is_new, group_id) where u.is_new),
  gate as materialized (
    select g.group_id, g.slots,
           case when g.paused or exists (select 1 from group_waiting w where w.group_id = g.group_id) then 0
                else g.slots - (select count(*) from group_slot s where s.group_id = g.group_id) end as free
      from task_group g where g.group_id in (select n.group_id from new n where n.starts_at is null)),
  ranked as materialized (
    select n.id, n.priority, n.group_id, g.free, row_number() over (partition by n.group_id order by n.priority, n.id) as n
      from new n left join gate g on g.group_id = n.group_id where n.starts_at is null),
  empty as (
    select g.group_id, f.slot, row_number() over (partition by g.group_id order by f.slot) as n
      from gate g cross join lateral generate_series(1, g.slots) f(slot)
     where g.free > 0 and not exists (select 1 from group_slot s where s.group_id = g.group_id and s.slot = f.slot)),
  added as (insert into task (task_id, task_definition_id, kind, priority, created_at, group_id, pending_group_key, pending_group_is_global, dedupe_key, build, trace_parent, payload)
            select n.id, p_task_definition_id, n.kind, n.priority, p_now, n.group_id,
                   case when n.group_id is null then n.group_key end, case when n.group_id is null and n.group_key is not null then coalesce(n.is_global, false) end,
                   n.dedupe_key, p_build, n.trace, n.payload from new n),
  slotted as (insert into group_slot (group_id, slot, task_id)
              select r.group_id, e.slot, r.id from ranked r join empty e on e.group_id = r.group_id and e.n = r.n where r.n <= r.free),
  waiting as (insert into group_waiting (group_id, priority, rank, task_id, task_definition_id)
              select r.group_id, r.priority, 0, r.id, p_task_definition_id from ranked r where r.n > r.free),
  opened as (insert into ready (task_definition_id, priority, rank, task_id)
             select p_task_definition_id, r.priority, 0, r.id from ranked r where r.group_id is null or r.n <= r.free),
  later as (insert into scheduled (task_definition_id, run_at, task_id)
            select p_task_definition_id, n.starts_at, n.id from new n where n.starts_at is not null)
  select coalesce((select bool_or(r.group_id is null or r.n <= r.free) from ranked r), false),
         (select case when min(n.starts_at) is not null then greatest(ceil(extract(epoch from min(n.starts_at) - p_now) * 1000), 0)::bigint end from new n where n.starts_at is not null)
    into o_ready, o_next_due_ms;
end $$;
