-- taskgate.list_definitions: definitions with their limits, their executions and the tasks that wait.
-- In:     p_name: only this one, or null
-- Out:    status: listed; definitions: JSON array, by name, of {name, limit (-1 none), limitSource: code | operator, codeLimit,
--           rate: in force, {count, periodMs, burst} or null, rateSource, codeRate, rateInMs: until it lets another task start, 0: now,
--           sharedLimits: [{name, limit, limitSource, held: by all definitions}], by name, paused, leaseMs, retryAttempts, lostMax, prefetchMax, build, tokenFence, held, executions, ready, scheduled, waiting, claimed,
--           running: of the claimed, as list_executions counts them: never more than held, prefetched: of the claimed, likewise,
--           done, dead, cancelled: counted up to 10000 each, nextDueMs}, or []
-- Raises: -
-- Locks:  none
-- Plan:   capped index ranges per definition: at most 60000 entries of each, whatever waits; and its open executions
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListDefinitions.sql
create or replace function taskgate.list_definitions(p_name text default null, out status text, out definitions text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
begin
  status := 'listed';
  select coalesce('[' || string_agg(json_build_object(
           'name', d.name, 'limit', coalesce(d.concurrency_limit_override, d.concurrency_limit),
           'limitSource', case when d.concurrency_limit_override is null then 'code' else 'operator' end, 'codeLimit', d.concurrency_limit,
           'rate', nullif(coalesce(_rate_text(b.rate_count_override, b.rate_period_ms_override, b.rate_burst_override),
                                   _rate_text(b.rate_count, b.rate_period_ms, b.rate_burst)), 'none')::json,
           'rateSource', case when b.rate_count_override is null then 'code' else 'operator' end,
           'codeRate', _rate_text(b.rate_count, b.rate_period_ms, b.rate_burst)::json, 'rateInMs', _permit_in_ms(d.task_definition_id, v_now),
           'sharedLimits', coalesce((select json_agg(json_build_object('name', u.name, 'limit', u.task_limit, 'limitSource', u.source, 'held',
                             case when u.task_limit = -1 then _shared_count(u.shared_limit_id) else u.held end) order by u.name)
                              from _shared_use(d.task_definition_id, v_now) u), '[]'),
           'paused', d.paused, 'leaseMs', d.lease_ms, 'retryAttempts', d.retry_attempts, 'lostMax', d.lost_max, 'prefetchMax', d.prefetch_max,
           'build', d.build, 'tokenFence', d.token_fence::text, 'held', e.held, 'executions', e.executions,
           'ready', (select count(*) from (select 1 from ready x where x.task_definition_id = d.task_definition_id limit 10000) c),
           'scheduled', (select count(*) from (select 1 from scheduled x where x.task_definition_id = d.task_definition_id limit 10000) c),
           'waiting', (select count(*) from (select 1 from group_waiting x where x.task_definition_id = d.task_definition_id limit 10000) c),
           'claimed', e.claimed, 'running', e.running, 'prefetched', e.prefetched,
           'done', k.packed + (select count(*) from (select 1 from archive x where x.task_definition_id = d.task_definition_id and x.outcome = 10 limit 10000 - k.packed) c),
           'dead', (select count(*) from (select 1 from archive x where x.task_definition_id = d.task_definition_id and x.outcome = 11 limit 10000) c),
           'cancelled', (select count(*) from (select 1 from archive x where x.task_definition_id = d.task_definition_id and x.outcome = 12 limit 10000) c),
           'nextDueMs', _next_due_ms(d.task_definition_id))::text, ',' order by d.name) || ']', '[]')
    into definitions
    from task_definition d left join rate_bucket b on b.task_definition_id = d.task_definition_id
   cross join lateral _count_packed(d.task_definition_id, 10000) k(packed)
   cross join lateral (
     select coalesce(sum(x.token_count), 0)::int as held, count(*) filter (where x.state = 1 and x.lease_until >= v_now)::int as executions,
            coalesce(sum(cardinality(x.inflight)), 0)::int as claimed, coalesce(sum(r.running), 0)::int as running,
            coalesce(sum(cardinality(x.inflight) - r.running), 0)::int as prefetched   -- of the dead there is no r
       from task_execution x
       left join lateral (select least(x.token_count, cardinality(x.inflight) - cardinality(x.prefetched)) as running
                           where x.state = 1 and x.lease_until >= v_now) r on true
      where x.task_definition_id = d.task_definition_id and x.state in (1, 3)) e
   where p_name is null or d.name = p_name;
end $$;
