-- taskgate._give_back: an ended execution's claims go back to ready, uncounted; those with a cancel request end.
-- In:     p_task_execution_id bigint: an execution that has ended, whose row the caller holds; p_now
-- Out:    o_woken int[]: definitions that got ready tasks; o_opening: JSON array of batches to be pumped, or null
-- Raises: -
-- Locks:  as _end_tasks. Each task is looked at once, so that a cancel request at this moment can't lose it between two looks
-- Plan:   primary keys
-- Twin:   inside mssql/sql/procedures/FinishExecution.sql
create or replace function taskgate._give_back(p_task_execution_id bigint, p_now timestamptz, out o_woken int[], out o_opening text)
language plpgsql as $$
declare
  e record;
  c record;
  v_kept bigint[];
  v_cancelled bigint[];
  v_fences bigint[];
begin
  o_woken := '{}';
  select x.task_definition_id, x.inflight, x.inflight_fence into e from task_execution x where x.task_execution_id = p_task_execution_id;
  select array_agg(t.task_id) filter (where not t.cancel_requested), array_agg(t.task_id) filter (where t.cancel_requested),
         array_agg(u.f) filter (where t.cancel_requested)
    into v_kept, v_cancelled, v_fences
    from unnest(e.inflight, e.inflight_fence) u(id, f) join task t on t.task_id = u.id;
  insert into ready (task_definition_id, priority, rank, task_id, is_solo)
  select t.task_definition_id, t.priority, t.rank, t.task_id, t.lost_count >= 2
    from unnest(v_kept) u(id) join task t on t.task_id = u.id;
  update task_execution set inflight = '{}', inflight_fence = '{}', inflight_at = '{}', prefetched = '{}' where task_execution_id = p_task_execution_id;
  if v_cancelled is null then return; end if;
  select * into c from _end_tasks(v_cancelled, v_fences, array_fill(12::smallint, array[cardinality(v_cancelled)]), null, null, p_task_execution_id, p_now, null, null);
  o_woken := c.o_woken;
  o_opening := _id_list(c.o_opening);
end $$;
