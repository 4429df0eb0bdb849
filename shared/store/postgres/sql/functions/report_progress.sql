-- taskgate.report_progress: how far a running task is, for people who watch.
-- In:     p_task_execution_id, p_task_id, p_fence bigint; p_done, p_total bigint >= 0 or null; p_text: cut to 400 characters, or null;
--         p_start_id: as work
-- Out:    status: done | fenced; cancel_requested: stop soon
-- Raises: TG422 a negative number
-- Locks:  task, by skip (a cancel may hold it: `done`, and the next report tells)
-- Plan:   primary keys; reads the execution without a lock
-- Once:   last one wins
-- Twin:   mssql/sql/procedures/ReportProgress.sql
create or replace function taskgate.report_progress(
  p_task_execution_id bigint, p_task_id bigint, p_fence bigint, p_done bigint, p_total bigint, p_text text, p_start_id uuid default null,
  out status text, out cancel_requested boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  if p_done < 0 or p_total < 0 then raise exception 'done: expected 0 or more (% of %)', p_done, p_total using errcode = 'TG422'; end if;
  cancel_requested := false;
  perform 1 from task_execution x where x.task_execution_id = p_task_execution_id and x.state = 1 and (p_start_id is null or x.operation_id = p_start_id)
      and exists (select 1 from unnest(x.inflight, x.inflight_fence) u(id, f) where u.id = p_task_id and u.f = p_fence);
  if not found then status := 'fenced'; return; end if;
  status := 'done';
  update task t set progress_done = p_done, progress_total = p_total, progress_text = left(p_text, 400)
   where t.task_id = (select x.task_id from task x where x.task_id = p_task_id for no key update skip locked)
  returning t.cancel_requested into cancel_requested;
  cancel_requested := coalesce(cancel_requested, false);
end $$;
