-- taskgate.release_surplus: gives back idle tokens: after a limit was lowered, as many as are held above it, or above a
-- shared limit; else, when a token was denied lately by one of these limits, a part of what this execution holds more than others.
-- In:     p_task_execution_id bigint; p_keep int 0..1000: tokens that this execution's tasks are using; p_start_id: as work
-- Out:    status: released | fenced; tokens: still held; freed: given back; over_limit: still held above the limit by all, or above a shared one;
--         given: of the freed tokens those for a denied execution: leave a hint; woken: JSON array of other definitions with an execution that
--         was denied by a limit that is shared with them: leave each a hint, or null
-- Raises: TG422 p_keep out of range
-- Locks:  shared_limit, task_definition, task_execution: the number is decided under the row's lock, so two holders never give back twice;
--         token_gift, shared_token_demand
-- Plan:   primary keys only; where nothing is above the limit and no denial is open, plain reads without lock
-- Once:   by value: however often it is said, the tokens in use stay; a repeat gives again only for a denial
--         noted since
-- Twin:   mssql/sql/procedures/ReleaseSurplus.sql
create or replace function taskgate.release_surplus(
  p_task_execution_id bigint, p_keep int, p_start_id uuid default null,
  out status text, out tokens int, out freed int, out over_limit int, out given int, out woken text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_definition int;
  v_shared int[];
  v_held int;
  s record;
begin
  perform _check_range('keep', p_keep, 0, 1000);
  tokens := 0; freed := 0; over_limit := 0; given := 0;
  select x.task_definition_id, _shared_ids(x.task_definition_id), x.token_count into v_definition, v_shared, v_held from task_execution x
   where x.task_execution_id = p_task_execution_id and x.state = 1 and (p_start_id is null or x.operation_id = p_start_id);
  if not found then status := 'fenced'; return; end if;
  if v_shared = '{}' and exists (                     -- others gave meanwhile, or the limit was raised
    select 1 from task_definition d
     where d.task_definition_id = v_definition
       and (coalesce(d.concurrency_limit_override, d.concurrency_limit) = -1
            or _tokens_are_sound(d.execution_tokens)
               and _held_tokens(d.execution_tokens) <= coalesce(d.concurrency_limit_override, d.concurrency_limit)
               and _open_demand(v_definition, d.lease_ms, _now()) is null)) then
    status := 'released'; tokens := v_held;
    return;
  end if;
  if v_shared <> '{}' then perform _lock_shared(v_shared); end if;
  select * into s from _settle_tokens(v_definition, p_task_execution_id, null, null, p_keep, v_shared);
  if not s.o_is_live then status := 'fenced'; return; end if;   -- declared dead meanwhile: its tokens may be granted to others
  status := 'released';
  tokens := s.o_own; freed := s.o_freed; given := s.o_given;
  if given > 0 and s.o_given_to <> '{}' then woken := _definition_names(s.o_given_to, v_definition); end if;
  over_limit := case when v_shared <> '{}' then _over_limit(v_definition) when s.o_limit = -1 then 0 else greatest(s.o_held - s.o_limit, 0) end;
end $$;
