-- taskgate.create_batch: makes a batch with empty waves, to be filled by enqueue_tasks and then started.
-- In:     p_operation_id uuid; p_name text 1..200 characters: for people, need not be unique; p_failure_policy text: what a dead task
--         in a wave means once that wave has ended: halt (the next wave isn't opened until resume_batch) | continue | cancel (what
--         hasn't been opened ends cancelled); p_waves int 1..1000
-- Out:    status: created; batch bigint; waves: JSON array of wave ids as strings, in order
-- Raises: TG422 a bad value
-- Locks:  batch (a repeat of itself, or who purges it); new rows
-- Plan:   unique keys
-- Once:   by operation id, as long as the batch is kept
-- Twin:   mssql/sql/procedures/CreateBatch.sql
create or replace function taskgate.create_batch(
  p_operation_id uuid, p_name text, p_failure_policy text, p_waves int, out status text, out batch bigint, out waves text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  perform _check_text('name', p_name);
  if p_failure_policy is null or p_failure_policy not in ('halt', 'continue', 'cancel') then
    raise exception 'failure_policy: expected halt, continue or cancel (%)', p_failure_policy using errcode = 'TG422';
  end if;
  perform _check_range('waves', p_waves, 1, 1000);
  if p_operation_id is null then raise exception 'operation_id: expected a uuid (%)', p_operation_id using errcode = 'TG422'; end if;
  status := 'created';
  loop
    insert into taskgate.batch (operation_id, name, failure_policy, created_at)
    values (p_operation_id, p_name, case p_failure_policy when 'halt' then 1 when 'continue' then 2 else 3 end, _now())
    on conflict (operation_id) do nothing returning batch_id into batch;
    if batch is not null then
      insert into wave (batch_id, ordinal) select batch, n from generate_series(1, p_waves) n;
      -- The gate: calls that add tasks share it; the call that opens the wave has it alone.
      insert into wave_shard (wave_id, shard, remaining) select w.wave_id, 16, 0 from wave w where w.batch_id = batch;
      exit;
    end if;
    -- Kept to the end, so its waves are, too.
    select b.batch_id into batch from taskgate.batch b where b.operation_id = p_operation_id for key share;
    exit when batch is not null;                     -- or it was purged just now
  end loop;
  select '[' || string_agg('"' || w.wave_id || '"', ',' order by w.ordinal) || ']' into waves from wave w where w.batch_id = batch;
end $$;
