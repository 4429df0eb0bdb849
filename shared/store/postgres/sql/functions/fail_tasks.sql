-- taskgate.fail_tasks: tasks that did not end well: retry later, end as dead letters, end cancelled, or go on later uncounted.
-- In:     p_task_execution_id bigint
--         p_failures text: JSON array of 1..1000 {task, fence, as, error, retryInMs, durationMs, checkpoint, share}:
--           as: failed (counted; retried until retry_attempts, then dead) | dead (gave up) | cancelled | continued (uncounted:
--           comes back after retryInMs, with the checkpoint if one is given)
--           retryInMs: 0..2592000000, null: the definition's back-off (continued: at once, with a share: 5 s doubled up to 5 min); error: cut to 4000 characters
--           share: of continued, 1..1000: what this return takes of the task's 1000; null: 1, and with a checkpoint that differs from the
--           one before the count starts anew at 1; with more than 1000 the task is dead
--         p_start_id: as work
-- Out:    status: done | fenced (nothing changed); results: JSON array in input order of
--           {task, outcome: retry | dead | cancelled | continued | again (told before) | fenced, retryInMs}
--         woken: JSON array of other definitions that got ready tasks, or null; next_due_ms: the earliest retry, or null
--         opening: JSON array of batches to be pumped (pump_batch), or null
-- Raises: TG422 not such a list, a value out of range; TG413 a checkpoint too large
-- Locks:  task_execution (own), task, dedupe, task_group ascending, waves as _end_in_waves
-- Plan:   primary keys
-- Once:   by (task, fence): the key of attempt
-- Twin:   mssql/sql/procedures/FailTasks.sql
create or replace function taskgate.fail_tasks(
  p_task_execution_id bigint, p_failures text, p_start_id uuid default null,
  out status text, out results text, out woken text, out next_due_ms bigint, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  e record;
  d record;
  f record;
  t record;
  v_as text;
  v_outcome text;
  v_ms bigint;
  v_results json[] := '{}';
  v_dropped bigint[] := '{}';
  v_ended bigint[] := '{}'; v_fences bigint[] := '{}'; v_outcomes smallint[] := '{}'; v_durations int[] := '{}';
  v_failed int := 0;
  v_left bigint[]; v_left_groups int[];              -- retries that aren't strict: outside a group a task has its key only
  c record;
begin
  if not _is_json_list(p_failures) or json_array_length(p_failures::json) not between 1 and 1000 then
    raise exception 'failures: expected a JSON array of 1..1000 entries' using errcode = 'TG422';
  end if;
  select x.* into e from task_execution x where x.task_execution_id = p_task_execution_id and x.state = 1 and (p_start_id is null or x.operation_id = p_start_id) for no key update;
  if not found then status := 'fenced'; results := '[]'; return; end if;
  select x.* into d from task_definition x where x.task_definition_id = e.task_definition_id;
  for f in select (j.value ->> 'task')::bigint as task_id, (j.value ->> 'fence')::bigint as fence, j.value ->> 'as' as how, left(j.value ->> 'error', 4000) as error,
                  (j.value ->> 'retryInMs')::bigint as retry_in_ms, (j.value ->> 'durationMs')::int as duration_ms, j.value ->> 'checkpoint' as checkpoint,
                  (j.value ->> 'share')::int as share, j.n
             from json_array_elements(p_failures::json) with ordinality j(value, n) order by 1, j.n loop
    if f.how is null or f.how not in ('failed', 'dead', 'cancelled', 'continued') then
      raise exception 'failures.as: expected failed, dead, cancelled or continued (%)', f.how using errcode = 'TG422';
    end if;
    if f.retry_in_ms not between 0 and 2592000000 then
      raise exception 'failures.retryInMs: expected 0..2592000000 (%)', f.retry_in_ms using errcode = 'TG422';
    end if;
    if f.share not between 1 and 1000 then
      raise exception 'failures.share: expected 1..1000 (%)', f.share using errcode = 'TG422';
    end if;
    if f.checkpoint is not null and not _is_json(f.checkpoint) then
      raise exception 'failures.checkpoint: expected JSON text (%)', left(f.checkpoint, 100) using errcode = 'TG422';
    end if;
    if octet_length(f.checkpoint) > 65536 then
      raise exception 'failures.checkpoint: expected at most 65536 bytes (%)', octet_length(f.checkpoint) using errcode = 'TG413';
    end if;
    if f.task_id = any (v_dropped) or not exists (select 1 from unnest(e.inflight, e.inflight_fence) u(id, fe) where u.id = f.task_id and u.fe = f.fence) then
      v_results[f.n] := json_build_object('task', f.task_id::text, 'outcome', case when exists (
        select 1 from attempt a where a.task_id = f.task_id and a.fence = f.fence and a.outcome <> 13) then 'again' else 'fenced' end);
      continue;
    end if;
    v_as := f.how;
    update task x
       set failed_count = x.failed_count + case when v_as in ('failed', 'dead') then 1 else 0 end,
           continued_count = case when v_as <> 'continued' then x.continued_count
                                  when f.share is null and f.checkpoint is not null and f.checkpoint is distinct from x.checkpoint then 1
                                  else x.continued_count + coalesce(f.share, 1) end,
           checkpoint = case when v_as = 'continued' then coalesce(f.checkpoint, x.checkpoint) else x.checkpoint end,
           last_error = coalesce(f.error, x.last_error),
           -- A task that fails is late since it was due; an own delay is another instant.
           due_at = case when f.retry_in_ms is not null then v_now + f.retry_in_ms * interval '1 ms' else x.due_at end
     where x.task_id = f.task_id
    returning x.failed_count, x.continued_count, x.group_id, x.cancel_requested into t;
    -- A cancel request that arrived meanwhile wins over every way of going on.
    v_outcome := case when v_as = 'dead' then 'dead' when v_as = 'cancelled' or t.cancel_requested then 'cancelled'
                      when v_as = 'continued' and t.continued_count > 1000 then 'dead' when v_as = 'continued' then 'continued' when t.failed_count >= d.retry_attempts then 'dead' else 'retry' end;
    if v_as = 'continued' and v_outcome = 'dead' then
      f.error := left('came back uncounted too often, the last time: ' || coalesce(f.error, 'its checkpoint was the one before'), 4000);
      update task x set last_error = f.error where x.task_id = f.task_id;
    end if;
    insert into attempt (task_id, fence, task_execution_id, claimed_at, finished_at, duration_ms, outcome, error)
    select f.task_id, f.fence, p_task_execution_id, u.at, v_now, f.duration_ms,
           case when v_as in ('failed', 'dead') or v_outcome = 'dead' then 11 when v_outcome = 'cancelled' then 12 else 14 end, f.error
      from unnest(e.inflight, e.inflight_at) u(id, at) where u.id = f.task_id;
    v_dropped := v_dropped || f.task_id;
    v_failed := v_failed + (v_as in ('failed', 'dead'))::int;
    v_ms := null;
    if v_outcome in ('dead', 'cancelled') then
      v_ended := v_ended || f.task_id; v_fences := v_fences || f.fence; v_durations := v_durations || f.duration_ms;
      v_outcomes := v_outcomes || (case v_outcome when 'dead' then 11 else 12 end)::smallint;
    else
      v_ms := coalesce(f.retry_in_ms, case when v_outcome = 'continued' and f.share is null then 0
                                        when v_outcome = 'continued' then _backoff_ms(5000, 300000, (t.continued_count / f.share)::smallint) else _backoff_ms(d.retry_base_ms, d.retry_cap_ms, t.failed_count) end);
      insert into scheduled (task_definition_id, run_at, task_id) values (e.task_definition_id, v_now + v_ms * interval '1 ms', f.task_id);
      next_due_ms := least(next_due_ms, v_ms);
      if t.group_id is not null and not (select g.strict from task_group g where g.group_id = t.group_id) then
        v_left := v_left || f.task_id; v_left_groups := v_left_groups || t.group_id;
        update task x set group_id = null, pending_group_key = g.group_key, pending_group_is_global = g.task_definition_id = 0
          from task_group g where x.task_id = f.task_id and g.group_id = t.group_id;
      end if;
    end if;
    v_results[f.n] := json_build_object('task', f.task_id::text, 'outcome', v_outcome, 'retryInMs', v_ms);
  end loop;
  perform _drop_claims(p_task_execution_id, v_dropped, 0, 0, v_failed, cardinality(array_positions(v_outcomes, 11::smallint)));
  select * into c from _end_tasks(v_ended, v_fences, v_outcomes, v_durations, null, p_task_execution_id, v_now, v_left, v_left_groups);
  woken := _definition_names(c.o_woken, e.task_definition_id);
  opening := _id_list(c.o_opening);
  results := array_to_json(v_results)::text;
  status := 'done';
end $$;
