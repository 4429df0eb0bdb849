-- taskgate._idle_groups: those of some groups that are unused now.
-- In:     p_group_ids int[]
-- Out:    int[]
-- Raises: -
-- Locks:  none; a caller that relies on the answer holds the groups' rows
-- Plan:   one probe of each kind per group: pk_task_group, pk_group_slot, pk_group_waiting, pk_group_kept, ix_archive_group
-- Twin:   inside mssql/sql/procedures/_PurgeGroups.sql
create or replace function taskgate._idle_groups(p_group_ids int[]) returns int[]
language plpgsql as $$
begin
  return array(
    select g.group_id
      from unnest(p_group_ids) u(id) join task_group g on g.group_id = u.id
     where not g.paused
       and (select s.task_id from group_slot s where s.group_id = g.group_id limit 1) is null
       and (select w.task_id from group_waiting w where w.group_id = g.group_id limit 1) is null
       and (select k.group_id from group_kept k where k.group_id = g.group_id) is null
       and (select a.task_id from archive a where a.group_id = g.group_id limit 1) is null);
end $$;
