-- taskgate._replace_payloads: other payloads for tasks that haven't been started, without waiting for another call.
-- In:     p_ids bigint[], p_kinds text[], p_payloads text[], p_traces text[]: tasks with what they are to carry, same length;
--         p_build bigint: of the enqueuing code; p_joins_transaction: the caller's transaction may stay open for as long as it likes
-- Out:    bigint[]: those that carry it now. The others run or have run, are over, have another kind or are to be cancelled; or
--         another call is moving them at this moment; or, when joining, they wait for their group or wave
-- Raises: -
-- Locks:  ready, scheduled by skip; when not joining: wave_blocked by skip, task_group by skip and group_waiting under it; task
-- Plan:   primary keys; ix_scheduled_task
-- Twin:   mssql/sql/procedures/_ReplacePayloads.sql
create or replace function taskgate._replace_payloads(
  p_ids bigint[], p_kinds text[], p_payloads text[], p_traces text[], p_build bigint, p_joins_transaction boolean) returns bigint[]
language plpgsql as $$
declare
  v_ours bigint[];
  v_groups int[];
  v_rest bigint[];
begin
  -- The holder of a task's row in its container keeps others from claiming it. A claim reads payloads in a statement of its own,
  -- after it has the row.
  v_ours := array(
    select r.task_id from unnest(p_ids) u(id) join task t on t.task_id = u.id
      join ready r on r.task_definition_id = t.task_definition_id and r.priority = t.priority and r.rank = t.rank and r.task_id = t.task_id
       for update of r skip locked);
  if not p_joins_transaction then
    v_ours := v_ours || array(
      select h.task_id from unnest(p_ids) u(id) join task t on t.task_id = u.id
        join wave_blocked h on h.wave_id = t.wave_id and h.priority = t.priority and h.rank = t.rank and h.task_id = t.task_id
         for update of h skip locked);
    v_groups := array(
      select w.group_id from unnest(p_ids) u(id) join task t on t.task_id = u.id
        join group_waiting w on w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id);
    v_groups := array(select g.group_id from task_group g where g.group_id = any (v_groups) for no key update skip locked);
    v_ours := v_ours || array(                         -- lock, then look
      select w.task_id from unnest(p_ids) u(id) join task t on t.task_id = u.id
        join group_waiting w on w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id
       where w.group_id = any (v_groups));
  end if;
  v_rest := array(
    select t.task_id from unnest(p_ids) u(id) join task t on t.task_id = u.id
     where t.task_id not in (select unnest(v_ours))
       and not exists (select 1 from ready r where r.task_definition_id = t.task_definition_id and r.priority = t.priority
                          and r.rank = t.rank and r.task_id = t.task_id)
       and not exists (select 1 from group_waiting w where w.group_id = t.group_id and w.priority = t.priority
                          and w.rank = t.rank and w.task_id = t.task_id));
  if cardinality(v_rest) > 0 then
    v_ours := v_ours || array(
      select s.task_id from scheduled s where s.task_id = any (v_rest) for update skip locked);
  end if;
  -- As it is now, with its place kept: has it been started?
  v_rest := array(
    select t.task_id from task t
     where t.task_id = any (v_ours) and not t.cancel_requested and t.failed_count = 0 and t.lost_count = 0 and t.continued_count = 0
     order by t.task_id for no key update skip locked);
  with replaced as (
    update task t set payload = u.payload, trace_parent = u.trace, build = p_build
      from unnest(p_ids, p_kinds, p_payloads, p_traces) u(id, kind, payload, trace)
     where t.task_id = u.id and t.task_id = any (v_rest) and t.kind = u.kind
       -- A task stays in its group: one whose group is in its payload keeps a payload of that group.
       and not exists (select 1 from task_kind k where k.task_definition_id = t.task_definition_id and k.kind = t.kind
                          and _payload_key(t.payload, k.group_by) is distinct from _payload_key(u.payload, k.group_by))
    returning t.task_id)
  select coalesce(array_agg(r.task_id), '{}') into v_rest from replaced r;
  return v_rest;
end $$;
