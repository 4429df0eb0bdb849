-- taskgate._hand_over: tasks that leave their groups give their slots to the next waiting ones, in order.
-- In:     p_task_ids bigint[], p_group_ids int[]: same length; entries without a group are passed over
-- Out:    int[]: definitions that got ready tasks
-- Raises: TG499 a group's row is missing
-- Locks:  task_group ascending, then its slots and waiters
-- Plan:   primary keys; first entries of pk_group_waiting under the group
-- Twin:   mssql/sql/procedures/_HandOver.sql
create or replace function taskgate._hand_over(p_task_ids bigint[], p_group_ids int[]) returns int[]
language plpgsql as $$
declare
  r record;
  g record;
  v_used int;
  v_next bigint[];
  v_woken int[] := '{}';
begin
  for r in select u.group_id, array_agg(u.task_id) as task_ids from unnest(p_task_ids, p_group_ids) u(task_id, group_id)
            where u.group_id is not null group by u.group_id order by u.group_id loop
    select x.slots, x.paused into g from task_group x where x.group_id = r.group_id for no key update;   -- lock, then look
    if not found then raise exception 'group_id: a task names a group that is gone (%)', r.group_id using errcode = 'TG499'; end if;
    delete from group_slot s where s.group_id = r.group_id and s.task_id = any (r.task_ids);
    select count(*) into v_used from group_slot s where s.group_id = r.group_id;
    continue when g.paused or v_used >= g.slots;
    with chosen as materialized (
      select w.ctid, w.priority, w.rank, w.task_id, w.task_definition_id,
             row_number() over (order by w.priority, w.rank, w.task_id) as n
        from group_waiting w where w.group_id = r.group_id
       order by w.priority, w.rank, w.task_id limit g.slots - v_used),
    free as (
      select f.slot, row_number() over (order by f.slot) as n from generate_series(1, g.slots) f(slot)
       where not exists (select 1 from group_slot s where s.group_id = r.group_id and s.slot = f.slot)),
    taken as (delete from group_waiting w using chosen c where w.ctid = c.ctid),
    slotted as (insert into group_slot (group_id, slot, task_id)
                select r.group_id, f.slot, c.task_id from chosen c join free f using (n)),
    opened as (insert into ready (task_definition_id, priority, rank, task_id, is_solo)
               select c.task_definition_id, c.priority, c.rank, c.task_id, t.lost_count >= 2
                 from chosen c join task t on t.task_id = c.task_id)
    select array_agg(distinct c.task_definition_id) into v_next from chosen c;
    v_woken := v_woken || v_next::int[];
  end loop;
  return v_woken;
end $$;
