-- taskgate.pump_batch: goes on opening a batch's wave in slices, so that no call is long. Called by the caller that was told `opening`, and by the sweep.
-- In:     p_batch_id bigint; p_max int 1..1000 tasks
-- Out:    status: pumped | busy (another call does it now) | done (nothing is left to open); moved: tasks admitted, or ended
--         cancelled when the batch was cancelled; more: call again; woken: JSON array of names of definitions that got ready tasks, or null
-- Raises: TG404 unknown batch; TG422 max out of range
-- Locks:  as _admit_blocked, then as _close_wave; or batch, then as _open_next_wave
-- Plan:   primary keys
-- Once:   naturally
-- Twin:   mssql/sql/procedures/PumpBatch.sql
create or replace function taskgate.pump_batch(p_batch_id bigint, p_max int, out status text, out moved int, out more boolean, out woken text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  b record;
  v_woken int[] := '{}';
  r record;
begin
  perform _check_range('max', p_max, 1, 1000);
  select x.state, o.wave_id, x.finished_at, w.state as wave_state into b
    from batch x left join open_wave o on o.batch_id = x.batch_id left join wave w on w.wave_id = o.wave_id where x.batch_id = p_batch_id;
  if not found then raise exception 'batch_id: unknown (%)', p_batch_id using errcode = 'TG404'; end if;
  moved := 0; more := false; status := 'done';
  if b.wave_state = 1 then
    select * into r from _admit_blocked(b.wave_id, p_max, v_now);
    if r.o_moved is null then status := 'busy'; more := true; return; end if;
    status := 'pumped'; moved := r.o_moved; more := not r.o_is_over; v_woken := r.o_woken;
    if r.o_is_closed then
      select * into r from _close_wave(b.wave_id, v_now);
      more := r.o_is_opening; v_woken := v_woken || r.o_woken;
    end if;
  elsif b.state in (1, 4) and b.wave_id is null and b.finished_at is null then
    -- Nothing is open: the call that closed the last wave met one that was adding tasks to the next.
    perform 1 from batch x where x.batch_id = p_batch_id and x.state in (1, 4) and x.finished_at is null for no key update;
    if found and not exists (select 1 from open_wave o where o.batch_id = p_batch_id) then
      select * into r from _open_next_wave(p_batch_id, v_now);
      status := 'pumped'; more := r.o_is_opening; v_woken := r.o_woken;
      -- Another call still adds tasks to it: asking again at once would not help.
      if more and not exists (select 1 from open_wave o where o.batch_id = p_batch_id) then status := 'busy'; end if;
    end if;
  end if;
  woken := _definition_names(v_woken, 0);
end $$;
