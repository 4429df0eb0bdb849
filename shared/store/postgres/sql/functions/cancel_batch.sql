-- taskgate.cancel_batch: no further wave is opened; pump_batch cancels the tasks of blocked waves. Tasks that were admitted already are
--         named, for cancel_tasks.
-- In:     p_batch_id bigint; p_changed_by (null: the login), p_reason for the audit
-- Out:    status: cancelled | again | done (it had ended before); tasks: JSON array of ids of admitted unfinished tasks, at most 1000, or
--         null; opening: JSON array of the batch's id when blocked tasks are to be ended (call pump_batch), or null
-- Raises: TG404 unknown batch; TG422 an actor that is empty, or a text too long
-- Locks:  batch, then as _open_next_wave, _audit_call
-- Plan:   ix_task_wave; primary keys
-- Once:   by state
-- Twin:   mssql/sql/procedures/CancelBatch.sql
create or replace function taskgate.cancel_batch(
  p_batch_id bigint, p_changed_by text default null, p_reason text default null, out status text, out tasks text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  b record;
  v_wave bigint;
  r record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  select x.state, x.finished_at into b from batch x where x.batch_id = p_batch_id for no key update;
  if not found then raise exception 'batch_id: unknown (%)', p_batch_id using errcode = 'TG404'; end if;
  status := case b.state when 3 then 'done' when 4 then 'again' else 'cancelled' end;
  if b.state = 3 then return; end if;
  if b.state <> 4 then perform _audit_call('cancel_batch', 0, p_batch_id, null, p_changed_by, p_reason, _now()); end if;
  update batch x set state = 4 where x.batch_id = p_batch_id and x.state <> 4;
  select o.wave_id into v_wave from open_wave o where o.batch_id = p_batch_id;
  if not found then
    if b.finished_at is not null then return; end if;
    select * into r from _open_next_wave(p_batch_id, _now());
    if r.o_is_opening then opening := '["' || p_batch_id || '"]'; end if;
    return;
  end if;
  if exists (select 1 from wave w where w.wave_id = v_wave and w.state = 1) then opening := '["' || p_batch_id || '"]'; end if;
  select '[' || string_agg('"' || x.task_id || '"', ',' order by x.task_id) || ']' into tasks
    from (select t.task_id from task t
           where t.wave_id = v_wave and not t.cancel_requested
             and not exists (select 1 from wave_blocked h where h.wave_id = t.wave_id and h.priority = t.priority and h.rank = t.rank and h.task_id = t.task_id)
           order by t.task_id limit 1000) x;
end $$;
