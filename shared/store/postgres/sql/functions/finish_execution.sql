-- taskgate.finish_execution: ends an execution: its tokens go back, and the tasks that it still holds are ready again, uncounted.
-- In:     p_task_execution_id bigint; p_start_id: as work
-- Out:    status: ended (also when it was ended before) | fenced; given_back: tasks; tokens_freed; ready: tasks wait (a hint is due);
--         next_due_ms: until the next scheduled task; woken: JSON array of other definitions, or null: leave each a hint. Tasks of
--         theirs got ready, or wait for a freed shared token: no more definitions than freed tokens
--         opening: JSON array of batches to be pumped (pump_batch), or null
-- Raises: -
-- Locks:  shared_limit, task_definition, task_execution, then tasks that were cancelled meanwhile as in _end_tasks
-- Plan:   primary keys
-- Once:   by state: a repeat is `ended` with zeros
-- Twin:   mssql/sql/procedures/FinishExecution.sql
create or replace function taskgate.finish_execution(
  p_task_execution_id bigint, p_start_id uuid default null,
  out status text, out given_back int, out tokens_freed int, out ready boolean, out next_due_ms bigint, out woken text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  e record;
  s record;
  v_shared int[];
  v_woken int[] := '{}';
begin
  given_back := 0; tokens_freed := 0; ready := false;
  select x.task_definition_id, x.state, _shared_ids(x.task_definition_id) as shared into e from task_execution x
   where x.task_execution_id = p_task_execution_id and (p_start_id is null or x.operation_id = p_start_id);
  if e.state is distinct from 1 then status := case when e.state = 2 then 'ended' else 'fenced' end; return; end if;
  v_shared := e.shared;
  if v_shared <> '{}' then perform _lock_shared(v_shared); end if;
  select * into s from _settle_tokens(e.task_definition_id, p_task_execution_id, null, 0, null, v_shared);
  tokens_freed := s.o_freed;
  update task_execution x set state = 2, ended_at = v_now
   where x.task_execution_id = p_task_execution_id and x.state = 1
  returning x.task_definition_id, x.inflight into e;
  if not found then
    select case when x.state = 2 then 'ended' else 'fenced' end into status from task_execution x where x.task_execution_id = p_task_execution_id;
    return;
  end if;
  if cardinality(e.inflight) > 0 then
    select g.o_woken, g.o_opening into v_woken, opening from _give_back(p_task_execution_id, v_now) g;
    given_back := cardinality(e.inflight);
  end if;
  status := 'ended';
  ready := exists (select 1 from taskgate.ready r where r.task_definition_id = e.task_definition_id);
  next_due_ms := _next_due_ms(e.task_definition_id);
  if v_shared <> '{}' and tokens_freed > 0 then v_woken := v_woken || _waiting_beside(e.task_definition_id, v_shared, tokens_freed); end if;
  if v_woken <> '{}' then woken := _definition_names(v_woken, e.task_definition_id); end if;
end $$;
