-- taskgate._end_tasks: the one way to an end: tasks leave for the archive, their keys are freed, their groups handed over, their
--         waves counted down. Several that one call ends well go into one row of archive_pack by kind, priority, wave, build and range of 4096 ids;
--         a task has a row of its own if it ended otherwise, was the only one of its call, failed before, or is large (over 2000 bytes a row compresses).
-- In:     p_task_ids bigint[]; p_fences bigint[], p_outcomes smallint[] (10 done, 11 dead, 12 cancelled), p_durations_ms int[],
--         p_results text[]: same length; p_task_execution_id: of the last attempt, null: none; p_now
--         p_released_task_ids, p_released_group_ids: tasks that only leave their groups (a retry that isn't strict)
--         p_are_blocked: true: these tasks were never admitted: they hold no slot and are counted in no wave
--         p_retain_done_ms, p_keep_payload: of the definition, where tasks are done: all of them are its own
-- Out:    o_woken int[]: definitions that got ready tasks; o_opening bigint[]: batches whose next wave is still being opened
-- Raises: TG413, TG422 a result that is too large or isn't the text of a JSON object or array
-- Locks:  task (only the claim's owner gets here), dedupe in key order, then groups ascending, then waves as _end_in_waves,
--         each level once
-- Plan:   primary keys; of dedupe one probe per key, of attempts one per task
-- Twin:   mssql/sql/procedures/_EndTasks.sql: there each task has a row of its own
create or replace function taskgate._end_tasks(
  p_task_ids bigint[], p_fences bigint[], p_outcomes smallint[], p_durations_ms int[], p_results text[],
  p_task_execution_id bigint, p_now timestamptz, p_released_task_ids bigint[], p_released_group_ids int[], p_are_blocked boolean default false,
  p_retain_done_ms bigint default null, p_keep_payload boolean default null, out o_woken int[], out o_opening bigint[])
language plpgsql as $$
declare
  v_key_definitions int[];
  v_keys text[];
  v_key_tasks bigint[];
  v_grouped bigint[];
  v_groups int[];
  v_in_waves bigint[];
  v_waves bigint[];
  v_wave_outcomes smallint[];
  v_purge_done_after timestamptz;
  v_ids bigint[];
  v_fences bigint[];
  v_outcomes smallint[];
  v_durations_ms int[];
  v_results text[];
  v_is_packed boolean;
  v_are_plain boolean := false;
  v_are_alike boolean;
  v_one record;
  v_all record;
  v_left int;
  v_gone int;
  c record;
begin
  o_woken := '{}'; o_opening := '{}';
  if p_results is not null then perform _check_results(p_results); end if;
  -- Kept nowhere, and nothing else hangs on them: one short statement, which leaves the others to what follows.
  if p_retain_done_ms = 0 and 10 = all (p_outcomes) and p_released_group_ids is null and not p_are_blocked then
    delete from task t                               -- a join would be free to read all attempts
     where t.task_id = any (p_task_ids) and _is_plain(t) and (select p.task_id from attempt p where p.task_id = t.task_id limit 1) is null;
    get diagnostics v_gone = row_count;
    if v_gone = cardinality(p_task_ids) then return; end if;
  end if;
  -- One task that nothing else hangs on, the most frequent end beside packs: two short statements. The long one below takes five times as long
  -- to start as to run for it.
  if cardinality(p_task_ids) = 1 and p_outcomes[1] = 10 and p_retain_done_ms > 0 and p_released_group_ids is null and not p_are_blocked then
    delete from task t
     where t.task_id = p_task_ids[1] and _is_plain(t)
    returning * into v_one;
    if found then
      insert into archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, task_execution_id, fence,
                           duration_ms, build, outcome, failed_count, lost_count, error, result, payload, trace_parent)
      values (v_one.task_id, v_one.task_definition_id, v_one.kind, v_one.priority, v_one.rank, v_one.created_at, p_now, p_now + interval '1 ms' * p_retain_done_ms, p_task_execution_id,
              p_fences[1], p_durations_ms[1], v_one.build, 10, v_one.failed_count, v_one.lost_count, v_one.last_error, p_results[1], case when p_keep_payload then v_one.payload end,
              v_one.trace_parent);
      return;
    end if;
  end if;
  v_is_packed := coalesce(p_retain_done_ms, 0) > 0 and cardinality(p_task_ids) > 1 and 10 = all (p_outcomes);
  v_purge_done_after := p_now + interval '1 ms' * p_retain_done_ms;
  -- In the order of the ids: one search for all of them, and width_bucket finds the values of each (a join costs a tenth more).
  v_ids := p_task_ids;
  if cardinality(v_ids) <= 32 then                   -- a query of its own takes as long to start as forty of these turns
    for i in 2..cardinality(v_ids) loop
      if v_ids[i] < v_ids[i - 1] then v_ids := null; exit; end if;
    end loop;
  else
    v_ids := null;
  end if;
  if v_ids is null then v_ids := array(select u.id from unnest(p_task_ids) u(id) order by u.id); end if;
  if v_ids = p_task_ids and coalesce(array_dims(p_durations_ms), array_dims(v_ids)) = array_dims(v_ids) then   -- as most come: to sort all that is said of them costs another tenth
    v_fences := p_fences; v_outcomes := p_outcomes; v_durations_ms := p_durations_ms; v_results := p_results;
  else
    select array_agg(u.fence), array_agg(u.outcome), array_agg(u.duration_ms), array_agg(u.result)
      into v_fences, v_outcomes, v_durations_ms, v_results
      from (select * from unnest(p_task_ids, p_fences, p_outcomes, p_durations_ms, p_results) a(task_id, fence, outcome, duration_ms, result)
             order by a.task_id) u;
  end if;
  -- Several that nothing hangs on: the long statement at the end takes three times as long to start. One look tells whether they may be such.
  if v_is_packed then
    select t.task_definition_id, t.kind, t.priority, t.build into v_one from task t where t.task_id = v_ids[1] and _is_plain(t);
    v_are_plain := found;
  end if;
  if v_are_plain then
    -- All alike, of one range: three short statements over lists, with nothing grouped. They take a seventh less time than the next one.
    v_are_alike := v_ids[1] / 4096 = v_ids[cardinality(v_ids)] / 4096;
    if v_are_alike and p_results is not null then
      v_are_alike := (select coalesce(max(octet_length(u.result)), 0) <= 2000 from unnest(v_results) u(result));
    end if;
    if v_are_alike then
      select count(*) as n, bool_or(t.rank <> 0) as has_ranks, count(t.payload) as payload_count, count(t.trace_parent) as trace_count,
             array_agg(t.rank order by t.task_id) as ranks, array_agg(t.created_at order by t.task_id) as created_ats,
             array_agg(t.payload order by t.task_id) as payloads, array_agg(t.trace_parent order by t.task_id) as trace_parents
        into v_all
        from task t
       where t.task_id = any (v_ids) and t.kind = v_one.kind and t.priority = v_one.priority and t.build = v_one.build
         and _is_plain(t) and t.failed_count + t.lost_count = 0 and t.last_error is null and coalesce(octet_length(t.payload), 0) <= 2000;
      if v_all.n = cardinality(v_ids) then           -- they stay so: only their claim's owner changes these columns
        delete from task t where t.task_id = any (v_ids);
        insert into archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, build, task_execution_id, finished_at, purge_after,
                                  task_ids, ranks, created_ats, fences, durations_ms, results, payloads, trace_parents)
        values (v_ids[1], v_ids[cardinality(v_ids)], v_one.task_definition_id, v_one.kind, v_one.priority, v_one.build, p_task_execution_id, p_now, v_purge_done_after,
                v_ids, case when v_all.has_ranks then v_all.ranks end, v_all.created_ats, v_fences, v_durations_ms, v_results,
                case when p_keep_payload and v_all.payload_count > 0 then v_all.payloads end, case when v_all.trace_count > 0 then v_all.trace_parents end);
        return;
      end if;
    end if;
    with gone as (
      delete from task t where t.task_id = any (v_ids) and _is_plain(t) and t.failed_count + t.lost_count = 0 and t.last_error is null and coalesce(octet_length(t.payload), 0) <= 2000
         and (p_results is null or coalesce(octet_length(v_results[width_bucket(t.task_id, (select v_ids))]), 0) <= 2000)
      returning t.task_id, t.task_definition_id, t.kind, t.priority, t.rank, t.created_at, t.build, t.payload, t.trace_parent, width_bucket(t.task_id, (select v_ids)) as n),
    packed as (
      insert into archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, build, task_execution_id, finished_at, purge_after,
                                task_ids, ranks, created_ats, fences, durations_ms, results, payloads, trace_parents)
      select min(g.task_id), max(g.task_id), g.task_definition_id, g.kind, g.priority, g.build, p_task_execution_id, p_now, v_purge_done_after,
             array_agg(g.task_id order by g.task_id), case when bool_or(g.rank <> 0) then array_agg(g.rank order by g.task_id) end,
             array_agg(g.created_at order by g.task_id), array_agg(v_fences[g.n] order by g.task_id),
             case when p_durations_ms is not null then array_agg(v_durations_ms[g.n] order by g.task_id) end,
             case when p_results is not null then array_agg(v_results[g.n] order by g.task_id) end,
             case when p_keep_payload and count(g.payload) > 0 then array_agg(g.payload order by g.task_id) end,
             case when count(g.trace_parent) > 0 then array_agg(g.trace_parent order by g.task_id) end
        from gone g group by g.task_id / 4096, g.task_definition_id, g.kind, g.priority, g.build)
    select cardinality(v_ids) - count(*) into v_left from gone g;
    if v_left = 0 then return; end if;
  end if;
  with gone as (
    delete from task t where t.task_id = any (v_ids)
    returning t.task_id, t.task_definition_id, t.kind, t.priority, t.rank, t.created_at, t.group_id, t.wave_id, t.dedupe_key, t.build,
              t.failed_count, t.lost_count, t.last_error, t.payload, t.trace_parent, t.pending_group_key, t.pending_group_is_global,
              width_bucket(t.task_id, (select v_ids)) as n,   -- once; behind select the list is made flat once, and not for each look
              v_is_packed and t.failed_count + t.lost_count = 0 and t.last_error is null and coalesce(octet_length(t.payload), 0) <= 2000
                and (p_results is null or coalesce(octet_length(v_results[width_bucket(t.task_id, (select v_ids))]), 0) <= 2000) as is_packed),
  packed as (
    insert into archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, wave_id, build, task_execution_id, finished_at, purge_after,
                              task_ids, ranks, created_ats, fences, durations_ms, dedupe_keys, results, payloads, trace_parents)
    select min(g.task_id), max(g.task_id), g.task_definition_id, g.kind, g.priority, g.wave_id, g.build, p_task_execution_id, p_now, v_purge_done_after,
           array_agg(g.task_id order by g.task_id), case when bool_or(g.rank <> 0) then array_agg(g.rank order by g.task_id) end,
           array_agg(g.created_at order by g.task_id), array_agg(v_fences[g.n] order by g.task_id),
           case when p_durations_ms is not null then array_agg(v_durations_ms[g.n] order by g.task_id) end,
           case when count(g.dedupe_key) > 0 then array_agg(g.dedupe_key order by g.task_id) end,
           case when p_results is not null then array_agg(v_results[g.n] order by g.task_id) end,
           case when p_keep_payload and count(g.payload) > 0 then array_agg(g.payload order by g.task_id) end,
           case when count(g.trace_parent) > 0 then array_agg(g.trace_parent order by g.task_id) end
      from gone g where g.is_packed
     group by g.task_id / 4096, g.task_definition_id, g.kind, g.priority, g.wave_id, g.build),
  rest as materialized (                             -- most often nothing: the looks below are spared
    select * from gone g
     where not g.is_packed or g.dedupe_key is not null or g.group_id is not null or g.wave_id is not null or g.pending_group_key is not null
        or p_are_blocked),
  archived as (
    insert into archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, task_execution_id, fence,
                         duration_ms, group_id, wave_id, dedupe_key, build, outcome, failed_count, lost_count, error, result, payload, trace_parent)
    select g.task_id, g.task_definition_id, g.kind, g.priority, g.rank, g.created_at, p_now,
           case when v_outcomes[g.n] = 10 then v_purge_done_after
             else (select p_now + interval '1 ms' * case when v_outcomes[g.n] = 11 then d.retain_dead_ms else d.retain_done_ms end
                     from task_definition d where d.task_definition_id = g.task_definition_id) end,
           p_task_execution_id, v_fences[g.n], v_durations_ms[g.n],
           case when v_outcomes[g.n] <> 10 then g.group_id end,      -- a done task is never redriven: its row keeps no group
           g.wave_id, g.dedupe_key, g.build, v_outcomes[g.n], g.failed_count, g.lost_count, g.last_error,
           case when p_results is not null then v_results[g.n] end,
           case when v_outcomes[g.n] <> 10 or p_keep_payload then g.payload end, g.trace_parent
      from rest g where not g.is_packed and (v_outcomes[g.n] <> 10 or p_retain_done_ms > 0)),
  early as (                                         -- for a redrive: what the archive's columns don't say
    insert into ended_early (task_id, pending_group_key, pending_group_is_global, was_blocked)
    select g.task_id, g.pending_group_key, g.pending_group_is_global, p_are_blocked
      from rest g where g.pending_group_key is not null or p_are_blocked),
  forgotten as (                                     -- kept nowhere: its earlier attempts go, too
    delete from attempt p                            -- a join would be free to read all attempts
     where p.task_id = any (array(select g.task_id from gone g where p_retain_done_ms = 0 and v_outcomes[g.n] = 10)))
  select array_agg(g.task_definition_id order by g.task_definition_id, g.dedupe_key) filter (where g.dedupe_key is not null),
         array_agg(g.dedupe_key order by g.task_definition_id, g.dedupe_key) filter (where g.dedupe_key is not null),
         array_agg(g.task_id order by g.task_definition_id, g.dedupe_key) filter (where g.dedupe_key is not null),
         array_agg(g.task_id) filter (where g.group_id is not null),
         array_agg(g.group_id) filter (where g.group_id is not null),
         array_agg(g.task_id) filter (where g.wave_id is not null),
         array_agg(g.wave_id) filter (where g.wave_id is not null),
         array_agg(v_outcomes[g.n]) filter (where g.wave_id is not null)
    into v_key_definitions, v_keys, v_key_tasks, v_grouped, v_groups, v_in_waves, v_waves, v_wave_outcomes
    from rest g
   where g.dedupe_key is not null or g.group_id is not null or g.wave_id is not null;
  if v_keys is not null then                         -- a key with a window outlives its task
    -- One probe per key, locked in the order of the arrays: a join could read all keys, in any order.
    delete from dedupe k where k.ctid = any (array(  -- no other call changes them: their places stay
      select (select x.ctid from dedupe x
               where x.task_definition_id = u.task_definition_id and x.dedupe_key = u.dedupe_key and x.task_id = u.task_id
                 and x.expires_at is null for update)
        from unnest(v_key_definitions, v_keys, v_key_tasks) u(task_definition_id, dedupe_key, task_id)));
  end if;
  if p_are_blocked then return; end if;
  if v_groups is not null or p_released_group_ids is not null then
    o_woken := _hand_over(v_grouped || p_released_task_ids, v_groups || p_released_group_ids);
  end if;
  if v_waves is not null then
    select * into c from _end_in_waves(v_in_waves, v_waves, v_wave_outcomes, p_now);
    o_woken := o_woken || c.o_woken; o_opening := c.o_opening;
  end if;
end $$;
