-- taskgate._promote: moves due tasks of one definition from scheduled to where they may be claimed, without waiting for another call.
-- In:     p_task_definition_id int; p_max int; p_now
-- Out:    int: how many left scheduled; grouped ones whose group is locked, being made or being removed just now stay for the next call
-- Raises: -
-- Locks:  advisory 44 of the definition, only tried: one promotes a definition's tasks at a time, the others go on (0). Two at a time could
--         put a later task of a strict group before an earlier one; scheduled by skip, in (run_at, task_id) order; task_group by skip, missing ones as _make_pending_groups
-- Plan:   first entries of pk_scheduled; primary keys; each group's slots with its first task, as in _enqueue_grouped
-- Twin:   mssql/sql/procedures/_Promote.sql
create or replace function taskgate._promote(p_task_definition_id int, p_max int, p_now timestamptz) returns int
language plpgsql as $$
declare
  v_ids bigint[];
  v_places tid[];
  v_priorities smallint[];
  v_ranks bigint[];
  v_solos boolean[];
  v_any_grouped boolean;
  v_any_pending boolean;
  v_groups int[];
  v_locked int[];
  n int;
begin
  if not pg_try_advisory_xact_lock(44, p_task_definition_id) then return 0; end if;
  -- 1. Due rows that no other call is taking. Such a row is never updated, and while it is locked its task keeps priority, rank and group.
  with due as materialized (
    select s.task_id, s.ctid as place from scheduled s
     where s.task_definition_id = p_task_definition_id and s.run_at <= p_now
     order by s.run_at, s.task_id limit p_max for update skip locked)
  select array_agg(due.task_id), array_agg(due.place), array_agg(t.priority), array_agg(t.rank), array_agg(t.lost_count >= 2),
         bool_or(t.group_id is not null), bool_or(t.pending_group_key is not null)
    into v_ids, v_places, v_priorities, v_ranks, v_solos, v_any_grouped, v_any_pending
    from due join task t on t.task_id = due.task_id;
  if v_ids is null then return 0; end if;
  if not v_any_grouped and not v_any_pending then   -- no groups: nothing to look at, in half of the time
    delete from scheduled d where d.ctid = any (v_places);
    insert into ready (task_definition_id, priority, rank, task_id, is_solo)
    select p_task_definition_id, u.priority, u.rank, u.id, u.is_solo
      from unnest(v_priorities, v_ranks, v_ids, v_solos) u(priority, rank, id, is_solo);
    return cardinality(v_ids);
  end if;
  if v_any_grouped then v_groups := array(select distinct t.group_id from unnest(v_ids) u(id) join task t on t.task_id = u.id where t.group_id is not null); end if;
  -- Groups by their keys, made where they are missing, unless another call makes one now.
  if v_any_pending then v_groups := coalesce(v_groups, '{}') || _make_pending_groups(p_task_definition_id, v_ids); end if;
  -- 2. Their groups, as far as they are free: own statement, so that the next one sees what the last holder committed.
  if v_groups is not null then
    v_locked := array(select g.group_id from task_group g where g.group_id = any (v_groups) order by g.group_id for no key update skip locked);
  end if;
  -- 3. Admit. A strict group's retry still has its slot; the others name their group again from here on.
  with due as materialized (
    select t.task_id, u.place, t.priority, t.rank, x.group_id, t.pending_group_key is not null as is_joining, t.lost_count >= 2 as is_solo,
           (select s.slot from group_slot s where s.group_id = t.group_id and s.task_id = t.task_id limit 1) is not null as has_slot   -- not exists: it may be answered from all slots
      from unnest(v_ids, v_places) u(id, place) join task t on t.task_id = u.id
     cross join lateral (
       select case when t.pending_group_key is null then t.group_id else (
                select g.group_id from task_group g
                 where g.task_definition_id = case when t.pending_group_is_global then 0 else p_task_definition_id end
                   and g.group_key = t.pending_group_key) end as group_id offset 0) x   -- offset: read once, though named twice
     where (t.group_id is null and t.pending_group_key is null) or (x.group_id in (select unnest(v_locked))) is true),
  ranked as materialized (
    select d.*, row_number() over (partition by d.group_id, d.has_slot order by d.priority, d.rank, d.task_id) as n from due d),
  gate as materialized (                             -- with each group's first task: the slots that may be filled
    select r.*, case when r.n = 1 and not r.has_slot then (
             select case when g.paused or exists (select 1 from group_waiting w where w.group_id = g.group_id) then '{}'
                         else array(select f.slot from generate_series(1, g.slots) f(slot)
                                     where not exists (select 1 from group_slot s where s.group_id = g.group_id and s.slot = f.slot)
                                     order by f.slot limit greatest(g.slots - (select count(*) from group_slot s where s.group_id = g.group_id), 0)) end
               from task_group g where g.group_id = r.group_id) end as empty
      from ranked r),
  placed as materialized (
    select g.*, (first_value(g.empty) over (partition by g.group_id, g.has_slot order by g.n))[g.n] as slot from gate g),
  gone as (delete from scheduled d where d.ctid = any (array(select p.place from placed p)) returning 1),
  joined as (update task t set group_id = p.group_id, pending_group_key = null, pending_group_is_global = null
               from placed p where t.task_id = p.task_id and p.is_joining and t.task_id = any (v_ids)),
  slotted as (insert into group_slot (group_id, slot, task_id)
              select p.group_id, p.slot, p.task_id from placed p where p.slot is not null),
  waiting as (insert into group_waiting (group_id, priority, rank, task_id, task_definition_id)
              select p.group_id, p.priority, p.rank, p.task_id, p_task_definition_id from placed p
               where p.group_id is not null and not p.has_slot and p.slot is null),
  opened as (insert into ready (task_definition_id, priority, rank, task_id, is_solo)
             select p_task_definition_id, p.priority, p.rank, p.task_id, p.is_solo from placed p
              where p.group_id is null or p.has_slot or p.slot is not null)
  select count(*) into n from gone;
  return n;
end $$;
