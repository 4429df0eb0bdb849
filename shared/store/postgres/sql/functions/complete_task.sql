-- taskgate.complete_task: the fenced completion of one task inside the user's own transaction: its writes and the
--         completion are committed together, or neither is. Call it last before the commit.
-- In:     p_task_execution_id, p_task_id, p_fence bigint; p_duration_ms int or null; p_result text: JSON object or array, at most 65536 bytes, or null;
--         p_start_id: as work
-- Out:    status: done | again: this claim was completed before, with its writes: roll back | fenced: roll back;
--         woken: JSON array of other definitions that got ready tasks, or null; opening: JSON array of batches to be pumped
--         (pump_batch) after the commit, or null
-- Raises: TG413, TG422 a result that is too large or isn't the text of a JSON object or array; TG490 another isolation level than
--         read committed: its one snapshot would not see the tasks that wait in the group
-- Locks:  task_execution (own), task, dedupe, task_group, wave_shard, wave, batch: held until the user's commit
-- Plan:   primary keys, packs as _is_packed
-- Once:   by (task, fence); with retain_done_ms = 0 nothing is left to know a repeat by: it says `fenced`
-- Twin:   mssql/sql/procedures/CompleteTask.sql
create or replace function taskgate.complete_task(
  p_task_execution_id bigint, p_task_id bigint, p_fence bigint, p_duration_ms int default null, p_result text default null,
  p_start_id uuid default null,
  out status text, out woken text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  e record;
  c record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'transaction: expected isolation level read committed (%)', current_setting('transaction_isolation') using errcode = 'TG490';
  end if;
  if p_result is not null then perform _check_results(array[p_result]); end if;
  select x.task_definition_id, d.retain_done_ms, d.keep_payload into e from task_execution x join task_definition d on d.task_definition_id = x.task_definition_id
   where x.task_execution_id = p_task_execution_id and x.state = 1 and (p_start_id is null or x.operation_id = p_start_id)
     and exists (select 1 from unnest(x.inflight, x.inflight_fence) u(id, f) where u.id = p_task_id and u.f = p_fence)
     for no key update of x;
  if not found then
    status := case when exists (select 1 from archived a where a.task_id = p_task_id and a.first_task_id between greatest(p_task_id, 0) - 4095 and p_task_id and a.last_task_id >= p_task_id
                                    and a.fence = p_fence and a.task_execution_id = p_task_execution_id and a.outcome = 10)
                         and not exists (select 1 from task_execution x where x.task_execution_id = p_task_execution_id and x.operation_id <> p_start_id)
                   then 'again' else 'fenced' end;
    return;
  end if;
  perform _drop_claims(p_task_execution_id, array[p_task_id], 1, coalesce(p_duration_ms, 0), 0, 0);
  select * into c from _end_tasks(array[p_task_id], array[p_fence], array[10::smallint], array[p_duration_ms], array[p_result], p_task_execution_id, v_now, null, null,
                              false, e.retain_done_ms, e.keep_payload);
  woken := _definition_names(c.o_woken, e.task_definition_id);
  opening := _id_list(c.o_opening);
  status := 'done';
end $$;
