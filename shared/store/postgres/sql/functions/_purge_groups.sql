-- taskgate._purge_groups: removes unused groups: no task holds a slot or waits, none that may be redriven names it, no operator
--         has set it. A key that comes back makes a new group, with the definition's settings.
-- In:     p_max int: groups to look at, behind those of the call before; p_now
-- Out:    o_groups: how many went; o_more: as many as asked for were looked at, and some of them went
-- Raises: -
-- Locks:  group_round by skip (one purge at a time looks at groups), task_group by skip, only of those that seem idle: it never waits
-- Isolation: who fills, frees or hands over a slot, lets wait, archives such a task or sets a group holds its row; so under that row's
--         lock the looks are exact. They are statements of their own: they see what the last holder committed. Who looked the group
--         up and comes too late finds no row to lock, and leaves its task to promotion
-- Plan:   pk_task_group behind the remembered place; one probe of each kind per group
-- Twin:   mssql/sql/procedures/_PurgeGroups.sql
create or replace function taskgate._purge_groups(p_max int, p_now timestamptz, out o_groups int, out o_more boolean)
language plpgsql as $$
declare
  v_after int;
  v_seen int[];
  v_idle int[];
begin
  o_groups := 0; o_more := false;
  select r.last_group_id into v_after from group_round r where r.round_id = 1 for update skip locked;
  if not found then return; end if;
  v_seen := array(select g.group_id from task_group g where g.group_id > v_after order by g.group_id limit p_max);
  -- 1. Which seem idle, with nothing locked.
  v_idle := _idle_groups(v_seen);
  -- 2. Lock, then look.
  v_idle := array(select g.group_id from task_group g where g.group_id = any (v_idle) order by g.group_id for update skip locked);
  v_idle := _idle_groups(v_idle);
  delete from task_group g where g.group_id = any (v_idle);
  get diagnostics o_groups = row_count;
  -- 3. Where the next call goes on; of no group at all nothing is written.
  if cardinality(v_seen) = p_max then
    update group_round r set last_group_id = v_seen[p_max] where r.round_id = 1;
    o_more := o_groups > 0;
  elsif cardinality(v_seen) > 0 or v_after > 0 then
    update group_round r set last_group_id = 0, ended_at = p_now where r.round_id = 1;
  end if;
end $$;
