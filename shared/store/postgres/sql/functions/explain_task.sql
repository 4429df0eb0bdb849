-- taskgate.explain_task: where a task stands and everything that decides when it runs, in one read.
-- In:     p_task_id bigint
-- Out:    status: found | moving (between two containers at this instant: ask again) | unknown;
--         facts: JSON object: task, definition, kind, state: scheduled | waiting | blocked | ready | claimed | done | dead | cancelled,
--           priority, createdAt, failedCount, retryAttempts, lostCount, lostMax, continuedCount, cancelRequested, lastError, dedupeKey,
--           traceParent: of the enqueue, or null,
--           progress {done, total, text}, limit, limitSource, held, paused, holders [{execution, worker, tokens, leaseLeftMs}],
--           and by state: dueInMs; group {key, slots, used, paused, strict, ahead, holders [task ids]}; readyAhead (counted up to 1000);
--           wave {batch, name: of the batch, batchState: as list_batches, ordinal, state: blocked | opening} of a blocked one;
--           claim {execution, worker, fence, claimedAt, leaseLeftMs, isPrefetched: not told as started, standing: as list_tasks}; finishedAt, result, payload, worker;
--           attempts [{fence, worker, claimedAt, finishedAt, durationMs, outcome, error}], newest 50
-- Raises: -
-- Locks:  none
-- Plan:   primary keys, packs as _is_packed; the open executions of one definition
-- Once:   a read
-- Twin:   mssql/sql/procedures/ExplainTask.sql
create or replace function taskgate.explain_task(p_task_id bigint, out status text, out facts text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  a record;
  t record;
  d record;
  v_json jsonb;
  v_attempts jsonb;
begin
  p_task_id := greatest(p_task_id, 0);               -- none is negative, and far below zero there is no number 4095 less
  select coalesce(jsonb_agg(x.entry order by x.finished_at desc, x.fence desc), '[]') into v_attempts from (
    select jsonb_build_object('fence', p.fence::text, 'worker', e.worker, 'claimedAt', _iso(p.claimed_at), 'finishedAt', _iso(p.finished_at), 'durationMs', p.duration_ms,
             'outcome', case p.outcome when 11 then 'failed' when 12 then 'cancelled' when 13 then 'lost' else 'continued' end, 'error', p.error) as entry, p.finished_at, p.fence
      from attempt p left join task_execution e on e.task_execution_id = p.task_execution_id
     where p.task_id = p_task_id order by p.finished_at desc, p.fence desc limit 50) x;
  select x.*, f.name, e.worker into a from archived x join task_definition f on f.task_definition_id = x.task_definition_id
    left join task_execution e on e.task_execution_id = x.task_execution_id
   where x.task_id = p_task_id and x.first_task_id between p_task_id - 4095 and p_task_id and x.last_task_id >= p_task_id;
  if found then
    status := 'found';
    facts := jsonb_build_object('task', p_task_id::text, 'definition', a.name, 'kind', a.kind, 'state', case a.outcome when 10 then 'done' when 11 then 'dead' else 'cancelled' end,
      'priority', a.priority, 'createdAt', _iso(a.created_at), 'finishedAt', _iso(a.finished_at), 'failedCount', a.failed_count, 'lostCount', a.lost_count,
      'lastError', a.error, 'worker', a.worker, 'durationMs', a.duration_ms, 'dedupeKey', a.dedupe_key, 'traceParent', a.trace_parent, 'result', a.result, 'payload', a.payload, 'attempts', v_attempts)::text;
    return;
  end if;
  -- One statement: task and container as of one snapshot.
  select x.*, s.run_at, r.task_id is not null as is_ready, w.group_id is not null as is_waiting, h.wave_id is not null as is_blocked,
         c.task_execution_id, c.worker, c.lease_until, c.fence, c.at as claimed_at, c.is_prefetched, c.standing
    into t
    from task x
    left join lateral (select y.run_at from scheduled y where y.task_id = x.task_id limit 1) s on true
    left join ready r on r.task_definition_id = x.task_definition_id and r.priority = x.priority and r.rank = x.rank and r.task_id = x.task_id
    left join group_waiting w on w.group_id = x.group_id and w.priority = x.priority and w.rank = x.rank and w.task_id = x.task_id
    left join wave_blocked h on h.wave_id = x.wave_id and h.priority = x.priority and h.rank = x.rank and h.task_id = x.task_id
    left join lateral (
      select e.task_execution_id, e.worker, e.lease_until, u.f as fence, u.at, u.id = any (e.prefetched) as is_prefetched,
             case when e.state <> 1 or e.lease_until < v_now then 'lost'   -- as list_tasks
                  when u.id <> all (e.prefetched) and (select count(*) from unnest(e.inflight) with ordinality y(id, n)
                                                   where y.n < u.n and y.id <> all (e.prefetched)) < e.token_count then 'running'
                  else 'prefetched' end as standing
        from task_execution e cross join lateral unnest(e.inflight, e.inflight_fence, e.inflight_at) with ordinality u(id, f, at, n)
       where e.task_definition_id = x.task_definition_id and e.state in (1, 3) and e.inflight @> array[x.task_id] and u.id = x.task_id limit 1) c on true
   where x.task_id = p_task_id;
  if not found then
    -- It may have ended between the two reads.
    status := case when exists (select 1 from archive x where x.task_id = p_task_id) or _is_packed(p_task_id) then 'moving' else 'unknown' end; return;
  end if;
  select x.*, coalesce(x.concurrency_limit_override, x.concurrency_limit) as task_limit into d from task_definition x where x.task_definition_id = t.task_definition_id;
  v_json := jsonb_build_object('task', p_task_id::text, 'definition', d.name, 'kind', t.kind, 'priority', t.priority, 'createdAt', _iso(t.created_at),
    'state', case when t.task_execution_id is not null then 'claimed' when t.is_ready then 'ready' when t.is_waiting then 'waiting' when t.is_blocked then 'blocked' when t.run_at is not null then 'scheduled' end,
    'failedCount', t.failed_count, 'retryAttempts', d.retry_attempts, 'lostCount', t.lost_count, 'lostMax', d.lost_max, 'continuedCount', t.continued_count,
    'cancelRequested', t.cancel_requested, 'lastError', t.last_error, 'dedupeKey', t.dedupe_key, 'traceParent', t.trace_parent, 'payload', t.payload,
    'progress', case when t.progress_done is not null or t.progress_text is not null then jsonb_build_object('done', t.progress_done, 'total', t.progress_total, 'text', t.progress_text) end,
    'limit', d.task_limit, 'limitSource', case when d.concurrency_limit_override is null then 'code' else 'operator' end, 'paused', d.paused, 'attempts', v_attempts,
    'held', (select coalesce(sum(e.token_count), 0) from task_execution e where e.task_definition_id = d.task_definition_id and e.state in (1, 3)),
    'holders', (select coalesce(jsonb_agg(jsonb_build_object('execution', e.task_execution_id::text, 'worker', e.worker, 'tokens', e.token_count,
                         'leaseLeftMs', floor(extract(epoch from e.lease_until - v_now) * 1000)::bigint) order by e.task_execution_id), '[]')
                  from task_execution e where e.task_definition_id = d.task_definition_id and e.state in (1, 3) and e.token_count > 0),
    'sharedLimits', (select coalesce(jsonb_agg(jsonb_build_object('name', u.name, 'limit', u.task_limit, 'limitSource', u.source,
                              'held', case when u.task_limit = -1 then _shared_count(u.shared_limit_id) else u.held end) order by u.name), '[]')
                       from _shared_use(d.task_definition_id, v_now) u),
    'rate', (select nullif(coalesce(_rate_text(b.rate_count_override, b.rate_period_ms_override, b.rate_burst_override),
                                    _rate_text(b.rate_count, b.rate_period_ms, b.rate_burst)), 'none')::jsonb
               from rate_bucket b where b.task_definition_id = d.task_definition_id),
    'rateInMs', _permit_in_ms(d.task_definition_id, v_now));
  if t.task_execution_id is not null then
    v_json := v_json || jsonb_build_object('claim', jsonb_build_object('execution', t.task_execution_id::text, 'worker', t.worker, 'fence', t.fence::text,
      'claimedAt', _iso(t.claimed_at), 'leaseLeftMs', floor(extract(epoch from t.lease_until - v_now) * 1000)::bigint, 'isPrefetched', t.is_prefetched, 'standing', t.standing));
  elsif t.is_ready then
    v_json := v_json || jsonb_build_object('readyAhead', (select count(*) from (
      select 1 from ready r where r.task_definition_id = t.task_definition_id and (r.priority, r.rank, r.task_id) < (t.priority, t.rank, t.task_id) limit 1000) c));
  elsif t.is_blocked and not t.is_waiting then
    v_json := v_json || jsonb_build_object('wave', (
      select jsonb_build_object('batch', b.batch_id::text, 'name', b.name, 'batchState', (array['draft', 'running', 'halted', 'done', 'cancelled'])[b.state + 1],
               'ordinal', w.ordinal, 'state', (array['blocked', 'opening', 'open', 'done'])[w.state + 1])
        from wave w join batch b on b.batch_id = w.batch_id where w.wave_id = t.wave_id));
  elsif t.run_at is not null and not t.is_waiting then
    v_json := v_json || jsonb_build_object('dueInMs', ceil(extract(epoch from t.run_at - v_now) * 1000)::bigint);
  elsif not t.is_waiting then
    status := 'moving'; return;
  end if;
  if t.pending_group_key is not null then            -- on its way into a group, which may be there already
    t.group_id := (select g.group_id from task_group g
                    where g.task_definition_id = case when t.pending_group_is_global then 0 else t.task_definition_id end and g.group_key = t.pending_group_key);
  end if;
  if t.group_id is not null then
    v_json := v_json || jsonb_build_object('group', (
      select jsonb_build_object('key', g.group_key, 'slots', g.slots, 'paused', g.paused, 'strict', g.strict, 'isGlobal', g.task_definition_id = 0,
               'used', (select count(*) from group_slot s where s.group_id = g.group_id),
               'holders', (select coalesce(jsonb_agg(s.task_id::text order by s.slot), '[]') from group_slot s where s.group_id = g.group_id),
               'ahead', (select count(*) from (select 1 from group_waiting w where w.group_id = g.group_id and (w.priority, w.rank, w.task_id) < (t.priority, t.rank, t.task_id) limit 1000) c))
        from task_group g where g.group_id = t.group_id));
  end if;
  status := 'found';
  facts := v_json::text;
end $$;
