-- taskgate._hand_over: tasks that leave their groups give their slots to the next waiting ones, in order.
-- In:     p_task_ids bigint[], p_group_ids int[]: same length; entries without a group are passed over
-- Out:    int[]: definitions that got ready tasks
-- Raises: TG499 a group's row is missing
-- Locks:  task_group ascending, then their slots and waiters
-- Plan:   primary keys; first entries of pk_group_waiting under each group. One statement for all groups: a loop over them costs three times as much
-- Twin:   mssql/sql/procedures/_HandOver.sql
create or replace function taskgate._hand_over(p_task_ids bigint[], p_group_ids int[]) returns int[]
language plpgsql as $$
declare
  v_groups int[] := array(select distinct u.group_id from unnest(p_group_ids) u(group_id) where u.group_id is not null order by 1);
  v_locked int[];
  v_woken int[];
begin
  if v_groups = '{}' then return '{}'; end if;
  v_locked := array(select x.group_id from task_group x where x.group_id = any (v_groups) order by x.group_id for no key update);   -- lock, then look
  if v_locked <> v_groups then
    raise exception 'group_id: a task names a group that is gone (%)', (select min(u.id) from unnest(v_groups) u(id) where (u.id in (select unnest(v_locked))) is not true)
      using errcode = 'TG499';
  end if;
  delete from group_slot s where s.group_id = any (v_groups) and (s.task_id in (select unnest(p_task_ids))) is true;
  with free as materialized (
    select g.group_id,
           array(select f.slot from generate_series(1, g.slots) f(slot)
                  where not exists (select 1 from group_slot s where s.group_id = g.group_id and s.slot = f.slot)
                  order by f.slot limit greatest(g.slots - (select count(*) from group_slot s where s.group_id = g.group_id), 0)) as slots
      from task_group g where g.group_id = any (v_groups) and not g.paused),
  chosen as materialized (
    select f.group_id, f.slots[row_number() over (partition by f.group_id order by w.priority, w.rank, w.task_id)] as slot,
           w.place, w.priority, w.rank, w.task_id, w.task_definition_id
      from free f
     cross join lateral (
       select x.ctid as place, x.priority, x.rank, x.task_id, x.task_definition_id from group_waiting x where x.group_id = f.group_id
        order by x.priority, x.rank, x.task_id limit cardinality(f.slots)) w),
  taken as (delete from group_waiting w where w.ctid = any (array(select c.place from chosen c))),
  slotted as (insert into group_slot (group_id, slot, task_id) select c.group_id, c.slot, c.task_id from chosen c),
  opened as (insert into ready (task_definition_id, priority, rank, task_id, is_solo)
             select c.task_definition_id, c.priority, c.rank, c.task_id, (select t.lost_count >= 2 from task t where t.task_id = c.task_id) from chosen c)
  select coalesce(array_agg(distinct c.task_definition_id), '{}') into v_woken from chosen c;
  return v_woken;
end $$;
