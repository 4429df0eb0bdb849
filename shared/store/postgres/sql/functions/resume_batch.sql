-- taskgate.resume_batch: a batch that a dead task halted goes on with its next wave, regardless of that task's state now. Where redriven
--         tasks have opened its last wave again, it goes on when that has ended: without a dead task, or it halts again.
-- In:     p_batch_id bigint; p_changed_by (null: the login), p_reason for the audit
-- Out:    status: resumed | again (it is running or done) | draft (start_batch starts it) | ended (cancelled); woken, opening: as start_batch
-- Raises: TG404 unknown batch; TG422 an actor that is empty, or a text too long
-- Locks:  batch, then as _open_next_wave, _audit_call
-- Plan:   primary keys
-- Once:   by state
-- Twin:   mssql/sql/procedures/ResumeBatch.sql
create or replace function taskgate.resume_batch(
  p_batch_id bigint, p_changed_by text default null, p_reason text default null, out status text, out woken text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_state smallint;
  r record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  select b.state into v_state from batch b where b.batch_id = p_batch_id for no key update;
  if not found then raise exception 'batch_id: unknown (%)', p_batch_id using errcode = 'TG404'; end if;
  status := case v_state when 0 then 'draft' when 2 then 'resumed' when 4 then 'ended' else 'again' end;
  if v_state <> 2 then return; end if;
  update batch b set state = 1 where b.batch_id = p_batch_id;
  perform _audit_call('resume_batch', 0, p_batch_id, null, p_changed_by, p_reason, _now());
  if exists (select 1 from open_wave o where o.batch_id = p_batch_id) then return; end if;
  select * into r from _open_next_wave(p_batch_id, _now());
  woken := _definition_names(r.o_woken, 0);
  if r.o_is_opening then opening := '["' || p_batch_id || '"]'; end if;
end $$;
