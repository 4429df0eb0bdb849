-- taskgate.release_tokens: gives back tokens until the execution holds at most p_keep.
-- In:     p_task_execution_id bigint; p_keep int 0..1000; p_start_id: as work
-- Out:    status: released | fenced; tokens: still held; freed: really given back; ready: tasks wait for them (a hint is due)
--         woken: JSON array of other definitions whose tasks wait for a freed shared token, or null: leave each a hint. No more than freed tokens
-- Raises: TG422 p_keep out of range
-- Locks:  shared_limit, task_definition, task_execution
-- Plan:   primary keys only
-- Once:   by the number that is kept, not the number given back: a repeat, another execution or a dead holder frees 0
-- Twin:   mssql/sql/procedures/ReleaseTokens.sql
create or replace function taskgate.release_tokens(
  p_task_execution_id bigint, p_keep int, p_start_id uuid default null,
  out status text, out tokens int, out freed int, out ready boolean, out woken text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_definition int;
  v_shared int[];
  s record;
begin
  perform _check_range('keep', p_keep, 0, 1000);
  tokens := 0; freed := 0; ready := false;
  select x.task_definition_id, _shared_ids(x.task_definition_id) into v_definition, v_shared from task_execution x
   where x.task_execution_id = p_task_execution_id and x.state = 1 and (p_start_id is null or x.operation_id = p_start_id);
  if not found then status := 'fenced'; return; end if;
  if v_shared <> '{}' then perform _lock_shared(v_shared); end if;
  select * into s from _settle_tokens(v_definition, p_task_execution_id, null, p_keep, null, v_shared);
  if not s.o_is_live then status := 'fenced'; return; end if;   -- declared dead meanwhile: its tokens may be granted to others
  status := 'released';
  tokens := s.o_own; freed := s.o_freed;
  ready := freed > 0 and exists (select 1 from taskgate.ready r where r.task_definition_id = v_definition);
  if v_shared <> '{}' and freed > 0 then woken := _definition_names(_waiting_beside(v_definition, v_shared, freed), v_definition); end if;
end $$;
