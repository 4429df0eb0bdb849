-- taskgate._make_pending_groups: the groups that tasks outside of them are meant for; missing ones are made.
-- In:     p_task_definition_id int; p_task_ids bigint[]: due tasks whose scheduled rows the caller holds
-- Out:    int[]: the groups; without those that another call is making just now
-- Raises: -
-- Locks:  advisory 43 by try, for groups that are missing; task_group (new rows). Never waits: the caller may hold
--         groups that the maker of a new one is waiting for
-- Plan:   primary keys, uq_task_group_key
-- Twin:   inside mssql/sql/procedures/_Promote.sql
create or replace function taskgate._make_pending_groups(p_task_definition_id int, p_task_ids bigint[]) returns int[]
language plpgsql as $$
declare
  v_scopes int[];
  v_keys text[];
begin
  with missing as materialized (
    select distinct p.scope, p.key, _group_latch(p.scope, p.key) as latch
      from (select case when t.pending_group_is_global then 0 else p_task_definition_id end as scope, t.pending_group_key as key
              from unnest(p_task_ids) u(id) join task t on t.task_id = u.id where t.pending_group_key is not null) p
     where not exists (select 1 from task_group g where g.task_definition_id = p.scope and g.group_key = p.key)),
  tried as materialized (
    select m.latch, pg_try_advisory_xact_lock(43, m.latch) as is_held from (select distinct x.latch from missing x) m)
  select array_agg(m.scope order by m.scope, m.key), array_agg(m.key order by m.scope, m.key) into v_scopes, v_keys
    from missing m join tried l on l.latch = m.latch where l.is_held;
  if v_keys is not null then                         -- own statement: it sees what the last holder committed
    insert into task_group (task_definition_id, group_key, slots, strict)
    select u.scope, u.key, d.group_slots, d.group_strict
      from unnest(v_scopes, v_keys) u(scope, key) join task_definition d on d.task_definition_id = p_task_definition_id
     where not exists (select 1 from task_group g where g.task_definition_id = u.scope and g.group_key = u.key)
     order by u.scope, u.key
    on conflict do nothing;
  end if;
  return array(
    select distinct g.group_id
      from unnest(p_task_ids) u(id) join task t on t.task_id = u.id
      join task_group g on g.task_definition_id = case when t.pending_group_is_global then 0 else p_task_definition_id end
                       and g.group_key = t.pending_group_key);
end $$;
