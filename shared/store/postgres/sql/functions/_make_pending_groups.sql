-- taskgate._make_pending_groups: gives tasks that were enqueued inside a user's transaction the groups they were meant for.
-- In:     p_task_definition_id int; p_task_ids bigint[]: due tasks whose scheduled rows the caller holds
-- Out:    int[]: the groups
-- Raises: -
-- Locks:  task_group (new rows, in key order), task
-- Plan:   primary keys, uq_task_group_key
-- Twin:   inside mssql/sql/procedures/_Promote.sql
create or replace function taskgate._make_pending_groups(p_task_definition_id int, p_task_ids bigint[]) returns int[]
language plpgsql as $$
declare
  v_groups int[];
begin
  insert into task_group (task_definition_id, group_key, slots, is_strict)
  select distinct case when t.pending_group_is_global then 0 else p_task_definition_id end, t.pending_group_key, d.group_slots, d.group_strict
    from unnest(p_task_ids) u(id) join task t on t.task_id = u.id join task_definition d on d.task_definition_id = p_task_definition_id
   where t.pending_group_key is not null
   order by 1, 2
  on conflict do nothing;
  with moved as (
    update task t set group_id = g.group_id, pending_group_key = null, pending_group_is_global = null
      from task_group g
     where t.task_id = any (p_task_ids) and t.pending_group_key is not null
       and g.task_definition_id = case when t.pending_group_is_global then 0 else p_task_definition_id end and g.group_key = t.pending_group_key
    returning t.group_id)
  select array_agg(distinct m.group_id) into v_groups from moved m;
  return v_groups;
end $$;
