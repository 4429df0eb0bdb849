-- taskgate._take_tasks: tasks that no other call is taking leave the place where they wait: for a worker, for their time, for their
--         group and, to their end, for their wave. The caller gives them another place, or ends them.
-- In:     p_task_ids bigint[]; p_to_end: they are to end, so their keys and the groups of scheduled ones are locked, too
-- Out:    o_seen bigint[]: the tasks that aren't over, or null; o_scheduled, o_ready, o_waited, o_blocked bigint[]: those of them that are
--         taken, by the place that they had
-- Raises: -
-- Locks:  scheduled, ready by skip; to their end: wave_blocked by skip, dedupe in key order; task_group ascending, of tasks that wait there;
--         group_waiting under its group, ready by skip
-- Plan:   primary keys; ix_scheduled_task
-- Twin:   mssql/sql/procedures/_TakeTasks.sql, whose first look is _FindTasks, before the transaction
create or replace function taskgate._take_tasks(
  p_task_ids bigint[], p_to_end boolean,
  out o_seen bigint[], out o_scheduled bigint[], out o_ready bigint[], out o_waited bigint[], out o_blocked bigint[])
language plpgsql as $$
declare
  v_waiting bigint[];
  v_elsewhere bigint[];                              -- those that stand neither here nor there
  v_mine bigint[];
  v_locked int[];
begin
  o_scheduled := '{}'; o_ready := '{}'; o_waited := '{}'; o_blocked := '{}';

  -- 1. Where they seem to be, with nothing locked.
  select array_agg(t.task_id), array_agg(t.task_id) filter (where p.is_waiting),
         array_agg(t.task_id) filter (where not p.is_waiting and not p.is_ready and not p.is_blocked)
    into o_seen, v_waiting, v_elsewhere
    from (select distinct u.id from unnest(p_task_ids) u(id)) a
    join task t on t.task_id = a.id
   cross join lateral (
     select exists (select 1 from group_waiting w
                     where w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id) as is_waiting,
            exists (select 1 from ready r where r.task_definition_id = t.task_definition_id and r.priority = t.priority
                       and r.rank = t.rank and r.task_id = t.task_id) as is_ready,
            exists (select 1 from wave_blocked h where h.wave_id = t.wave_id and h.priority = t.priority
                       and h.rank = t.rank and h.task_id = t.task_id) as is_blocked) p;

  -- 2. Tasks that no other call is taking: first the scheduled ones, as they become ready and not the other way round.
  if v_elsewhere is not null then
    o_scheduled := array(
      select s.task_id from scheduled s where s.task_id = any (v_elsewhere) for update skip locked);
  end if;
  o_ready := array(
    select r.task_id
      from unnest(o_seen) u(id) join task t on t.task_id = u.id
      join ready r on r.task_definition_id = t.task_definition_id and r.priority = t.priority and r.rank = t.rank and r.task_id = t.task_id
     where u.id <> all (o_scheduled) for update of r skip locked);
  if p_to_end then
    o_blocked := array(
      select h.task_id
        from unnest(o_seen) u(id) join task t on t.task_id = u.id
        join wave_blocked h on h.wave_id = t.wave_id and h.priority = t.priority and h.rank = t.rank and h.task_id = t.task_id
       where u.id <> all (o_scheduled || o_ready) for update of h skip locked);
  end if;
  v_mine := o_scheduled || o_ready || o_blocked;

  -- 3. Their keys, then their groups: each level once, ascending. A scheduled task that doesn't end stays outside.
  if p_to_end then
    perform (select k.task_id from dedupe k
              where k.task_definition_id = x.task_definition_id and k.dedupe_key = x.dedupe_key and k.task_id = x.task_id
                and k.expires_at is null for update)
       from (select t.task_definition_id, t.dedupe_key, t.task_id from task t
              where t.task_id = any (v_mine || v_waiting) and t.dedupe_key is not null order by t.task_definition_id, t.dedupe_key) x;
  end if;
  v_locked := array(
    select g.group_id from task_group g
     where g.group_id = any (array(
       select t.group_id from task t where t.task_id = any (v_mine || v_waiting) and (p_to_end or t.task_id <> all (o_scheduled))))
     order by g.group_id for no key update);         -- lock, then look

  -- 4. Tasks that wait in these groups; one that has left may have become ready meanwhile.
  if v_waiting is not null then
    o_waited := array(
      select w.task_id
        from unnest(v_waiting) u(id) join task t on t.task_id = u.id
        join group_waiting w on w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id
       where u.id <> all (v_mine) and t.group_id = any (v_locked));   -- not one that has come into another group
    o_ready := o_ready || array(
      select r.task_id
        from unnest(v_waiting) u(id) join task t on t.task_id = u.id
        join ready r on r.task_definition_id = t.task_definition_id and r.priority = t.priority and r.rank = t.rank and r.task_id = t.task_id
       where u.id <> all (v_mine || o_waited) and t.group_id = any (v_locked) for update of r skip locked);
  end if;

  -- 5. What this call has taken leaves its place.
  delete from scheduled s where s.task_id = any (o_scheduled);
  delete from ready d where d.ctid = any (array(     -- one probe per task, here and below: a join would be free to read all entries
    select (select r.ctid from ready r where r.task_definition_id = t.task_definition_id and r.priority = t.priority and r.rank = t.rank
               and r.task_id = t.task_id)
      from task t where t.task_id = any (o_ready)));
  delete from group_waiting d where d.ctid = any (array(
    select (select w.ctid from group_waiting w where w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank
               and w.task_id = t.task_id)
      from task t where t.task_id = any (o_waited)));
  delete from wave_blocked d where d.ctid = any (array(
    select (select h.ctid from wave_blocked h where h.wave_id = t.wave_id and h.priority = t.priority and h.rank = t.rank
               and h.task_id = t.task_id)
      from task t where t.task_id = any (o_blocked)));
end $$;
