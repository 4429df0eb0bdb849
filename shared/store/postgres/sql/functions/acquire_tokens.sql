-- taskgate.acquire_tokens: makes a live execution hold up to p_want tokens of its definition.
-- In:     p_task_execution_id bigint; p_want int 1..1000, tokens held already count into it; p_start_id: as work
-- Out:    status: granted | limited | paused | fenced; tokens: held by the execution now; granted: of them new;
--         token_fence bigint; retry_in_ms: when limited, the longest wait that makes sense without a hint;
--         dead_holders: tokens of this many dead executions were freed: call reclaim_expired; demand: noted: nothing was granted,
--           and holders were asked for a token: retry soon | null
-- Raises: TG422 p_want out of range
-- Locks:  shared_limit, task_definition, task_execution; token_demand, shared_token_demand by skip
-- Plan:   primary keys only; a denial is one read, without lock, also of one that holds some: what it holds is the answer; it writes at
--         most once a second per limit
-- Once:   a repeat grants nothing more than p_want
-- Twin:   mssql/sql/procedures/AcquireTokens.sql
create or replace function taskgate.acquire_tokens(
  p_task_execution_id bigint, p_want int, p_start_id uuid default null,
  out status text, out tokens int, out granted int, out token_fence bigint, out retry_in_ms bigint, out dead_holders int,
  out demand text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  e record;
  s record;
begin
  if p_want is null or p_want not between 1 and 1000 then
    raise exception 'want: expected 1..1000 (%)', p_want using errcode = 'TG422';
  end if;
  tokens := 0; granted := 0; dead_holders := 0;
  select x.task_definition_id, x.state, x.token_count, x.worker, _shared_ids(x.task_definition_id) as shared into e from task_execution x
   where x.task_execution_id = p_task_execution_id and (p_start_id is null or x.operation_id = p_start_id);
  if e.state is distinct from 1 then status := 'fenced'; return; end if;
  select * into s from _deny_early(e.task_definition_id, null);
  if s.o_status is not null then
    if s.o_status = 'limited' and e.token_count < p_want and _note_demand(e.task_definition_id, e.worker, e.shared) then demand := 'noted'; end if;
    if e.token_count = 0 then
      status := s.o_status; retry_in_ms := s.o_retry_in_ms;
    else                                             -- no more than these
      status := 'granted'; tokens := e.token_count;
      select d.token_fence into token_fence from task_definition d where d.task_definition_id = e.task_definition_id;
    end if;
    return;
  end if;
  if e.shared <> '{}' then perform _lock_shared(e.shared); end if;
  select * into s from _settle_tokens(e.task_definition_id, p_task_execution_id, p_want, null, null, e.shared);
  tokens := s.o_own; granted := s.o_granted; token_fence := s.o_token_fence; dead_holders := s.o_dead;
  status := case when not s.o_is_live then 'fenced' when s.o_own > 0 then 'granted' when s.o_paused then 'paused' else 'limited' end;
  if s.o_is_live and not s.o_paused and s.o_granted = 0 and s.o_own < p_want then
    if _note_demand(e.task_definition_id, e.worker, e.shared) then demand := 'noted'; end if;
  end if;
  if status = 'limited' then retry_in_ms := _retry_in_ms(e.task_definition_id); end if;
end $$;
