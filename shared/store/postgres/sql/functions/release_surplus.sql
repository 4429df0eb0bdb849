-- taskgate.release_surplus: after a limit was lowered: gives back idle tokens, but only as many as are held above the limit.
-- In:     p_task_execution_id bigint; p_most int 1..1000: tokens no task of this execution is using
-- Out:    status: released | fenced; tokens: still held; freed: given back; surplus: still held above the limit by all
-- Raises: TG422 p_most out of range
-- Locks:  task_definition, task_execution: the number is decided under the row's lock, so two holders never give back twice
-- Plan:   primary keys only
-- Once:   a repeat finds less surplus and gives back that much less
-- Twin:   mssql/sql/procedures/ReleaseSurplus.sql
create or replace function taskgate.release_surplus(
  p_task_execution_id bigint, p_most int,
  out status text, out tokens int, out freed int, out surplus int)
language plpgsql security definer
set search_path = taskgate, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_definition int;
  s record;
begin
  if p_most is null or p_most not between 1 and 1000 then
    raise exception 'most: expected 1..1000 (%)', p_most using errcode = 'TG422';
  end if;
  tokens := 0; freed := 0; surplus := 0;
  select x.task_definition_id into v_definition from task_execution x where x.task_execution_id = p_task_execution_id and x.state = 1;
  if not found then status := 'fenced'; return; end if;
  select * into s from _settle_tokens(v_definition, p_task_execution_id, null, null, p_most);
  status := case when s.o_is_live then 'released' else 'fenced' end;
  tokens := s.o_own; freed := s.o_freed;
  surplus := case when s.o_limit = -1 then 0 else greatest(s.o_held - s.o_limit, 0) end;
end $$;
