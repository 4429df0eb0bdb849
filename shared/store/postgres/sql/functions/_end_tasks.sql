-- taskgate._end_tasks: the one way to an end: tasks leave for the archive, their keys are freed, their groups handed over, their
--         waves counted down.
-- In:     p_task_ids bigint[]; p_fences bigint[], p_outcomes smallint[] (10 done, 11 dead, 12 cancelled), p_durations_ms int[],
--         p_results text[]: same length; p_task_execution_id: of the last attempt, null: none; p_now
--         p_released_task_ids, p_released_group_ids: tasks that only leave their groups (a retry that isn't strict)
--         p_are_held: true: these tasks were never admitted: they hold no slot and are counted in no wave
-- Out:    o_woken int[]: definitions that got ready tasks; o_opening bigint[]: batches whose next wave is still being opened
-- Raises: TG413, TG422 a result that is too large or isn't the text of a JSON object or array
-- Locks:  task (only the claim's owner gets here), dedupe in key order, then groups ascending, then waves as _end_in_waves,
--         each level once
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_EndTasks.sql
create or replace function taskgate._end_tasks(
  p_task_ids bigint[], p_fences bigint[], p_outcomes smallint[], p_durations_ms int[], p_results text[],
  p_task_execution_id bigint, p_now timestamptz, p_released_task_ids bigint[], p_released_group_ids int[], p_are_held boolean default false,
  out o_woken int[], out o_opening bigint[])
language plpgsql as $$
declare
  v_key_definitions int[];
  v_keys text[];
  v_grouped bigint[];
  v_groups int[];
  v_in_waves bigint[];
  v_waves bigint[];
  v_wave_outcomes smallint[];
  c record;
begin
  o_woken := '{}'; o_opening := '{}';
  if p_results is not null then perform _check_results(p_results); end if;
  with ended as (
    select u.task_id, u.fence, u.outcome, u.duration_ms, u.result
      from unnest(p_task_ids, p_fences, p_outcomes, p_durations_ms, p_results) u(task_id, fence, outcome, duration_ms, result)),
  gone as (                                          -- a done task is never redriven: its archive row keeps no group
    delete from task t using ended e, task_definition d
     where t.task_id = e.task_id and d.task_definition_id = t.task_definition_id
    returning t.*, e.fence, e.outcome, e.duration_ms, e.result,
              case when e.outcome = 11 then d.retain_dead_ms else d.retain_done_ms end as retain_ms,
              e.outcome <> 10 or d.retain_done_ms > 0 as is_kept),
  archived as (
    insert into archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, task_execution_id, fence,
                         duration_ms, group_id, wave_id, dedupe_key, build, outcome, failed_count, lost_count, error, result, payload)
    select g.task_id, g.task_definition_id, g.kind, g.priority, g.rank, g.created_at, p_now,
           p_now + g.retain_ms * interval '1 ms', p_task_execution_id, g.fence,
           g.duration_ms, case when g.outcome <> 10 then g.group_id end, g.wave_id, g.dedupe_key, g.build, g.outcome, g.failed_count, g.lost_count, g.last_error, g.result, g.payload
      from gone g where g.is_kept),
  early as (                                         -- for a redrive: what the archive's columns don't say
    insert into ended_early (task_id, pending_group_key, pending_group_is_global, was_held)
    select g.task_id, g.pending_group_key, g.pending_group_is_global, p_are_held
      from gone g where g.pending_group_key is not null or p_are_held),
  forgotten as (                                     -- kept nowhere: its earlier attempts go, too
    delete from attempt p using gone g where not g.is_kept and p.task_id = g.task_id)
  select array_agg(g.task_definition_id order by g.task_definition_id, g.dedupe_key) filter (where g.dedupe_key is not null),
         array_agg(g.dedupe_key order by g.task_definition_id, g.dedupe_key) filter (where g.dedupe_key is not null),
         array_agg(g.task_id) filter (where g.group_id is not null),
         array_agg(g.group_id) filter (where g.group_id is not null),
         array_agg(g.task_id) filter (where g.wave_id is not null),
         array_agg(g.wave_id) filter (where g.wave_id is not null),
         array_agg(g.outcome) filter (where g.wave_id is not null)
    into v_key_definitions, v_keys, v_grouped, v_groups, v_in_waves, v_waves, v_wave_outcomes
    from gone g;
  if v_keys is not null then                         -- a key with a window outlives its task
    delete from dedupe k using unnest(v_key_definitions, v_keys) u(task_definition_id, dedupe_key)
     where k.task_definition_id = u.task_definition_id and k.dedupe_key = u.dedupe_key
       and k.task_id = any (p_task_ids) and k.expires_at is null;
  end if;
  if p_are_held then return; end if;
  if v_groups is not null or p_released_group_ids is not null then
    o_woken := _hand_over(v_grouped || p_released_task_ids, v_groups || p_released_group_ids);
  end if;
  if v_waves is not null then
    select * into c from _end_in_waves(v_in_waves, v_waves, v_wave_outcomes, p_now);
    o_woken := o_woken || c.o_woken; o_opening := c.o_opening;
  end if;
end $$;
