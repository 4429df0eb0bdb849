-- taskgate.start_batch: opens the first wave that has tasks. Empty ones before it are done.
-- In:     p_batch_id bigint; p_seal boolean: no wave takes tasks any more; false: those not yet opened still do
-- Out:    status: started | again (it was before) | busy (another call is adding tasks to the first wave: ask again) | ended (cancelled);
--         woken: JSON array of names of definitions that got ready tasks, or null; opening: JSON array of the batch's id when
--         tasks of the opened wave are still to be admitted (call pump_batch), or null
-- Raises: TG404 unknown batch
-- Locks:  batch, then as _open_next_wave
-- Plan:   primary keys
-- Once:   by state
-- Twin:   mssql/sql/procedures/StartBatch.sql
create or replace function taskgate.start_batch(p_batch_id bigint, p_seal boolean, out status text, out woken text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_state smallint;
  v_now timestamptz := _now();
  r record;
begin
  select b.state into v_state from batch b where b.batch_id = p_batch_id for no key update;
  if not found then raise exception 'batch_id: unknown (%)', p_batch_id using errcode = 'TG404'; end if;
  if v_state <> 0 then
    status := case when v_state = 4 then 'ended' else 'again' end;
    return;
  end if;
  -- A call that adds tasks to the first wave holds its gate.
  perform 1 from wave w join wave_shard s on s.wave_id = w.wave_id and s.shard = 16
    where w.batch_id = p_batch_id and w.ordinal = 1 for no key update of s skip locked;
  if not found then status := 'busy'; return; end if;
  if p_seal then update wave w set is_sealed = true where w.batch_id = p_batch_id; end if;
  update batch b set state = 1, started_at = v_now where b.batch_id = p_batch_id;
  select * into r from _open_next_wave(p_batch_id, v_now);
  status := 'started';
  woken := _definition_names(r.o_woken, 0);
  if r.o_is_opening then opening := '["' || p_batch_id || '"]'; end if;
end $$;
