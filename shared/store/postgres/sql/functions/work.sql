-- taskgate.work: the hot path: completes some tasks and claims some, in one round trip and one commit.
-- In:     p_task_execution_id bigint; p_call_number bigint: 1, 2, 3 .. per execution: a repeat gets the first answer
--         p_done_task_ids, p_done_fences bigint[]: tasks that ended well, same length, in claim order where possible (faster);
--         p_done_durations_ms int[], p_done_results text (JSON array of JSON texts or nulls): same length, or null
--         p_started_task_ids bigint[]: prefetched claims that were started meanwhile, or null
--         p_want int 0..1000; p_after_*: scan hint: look only at or after the last place claimed, and only for tasks due since two seconds ago; or null
--         p_start_id uuid: what the execution was started by, its p_operation_id: a database that lost commits gives its number again;
--           null: not compared
-- Out:    status: claimed | none | limited (no token, no room for another prefetched claim, or the rate: retry_in_ms) | done (nothing was wanted) | paused
--                 | again (the answer of a call that was made before) | fenced | ended
--         fence bigint: of all tasks claimed by this call
--         task_ids, attempts: joined by commas; kinds, payloads: JSON arrays; extras: JSON array of null or
--           {checkpoint, trace, grouped, cancel, newer: enqueued by a newer build than this execution's, solo: lost twice}, or null when all are null: all of the same length, in claim order
--         started: the first so many count as started; the rest is prefetched until reported
--         last_priority, last_rank: of the last task claimed
--         refused_task_ids: completions that changed nothing, joined by commas, or null; lease_ms: how long from now, null: nothing was renewed
--         over_limit: tokens held by all above the limit, or above a shared one; release_requested: none are, but this process
--           should give one to a denied execution (_is_asked, _is_asked_shared). Call release_surplus when some are idle; free_tokens: so
--           many are free for any process; not said where a limit is shared, nor before a reservation ends (_reserved_ms)
--         next_due_ms: until the next scheduled task, when fewer were claimed than wanted or 128 due ones were made ready; 0: some are still due
--         retry_in_ms: the rate let fewer be claimed than wanted: until it lets another one; null: it didn't
--         woken: JSON array of other definitions that got ready tasks, or null; opening: JSON array of batches to be pumped
--         (pump_batch), or null
-- Raises: TG409 a call number older than the last; TG413, TG422 a bad result; TG422 want or call number out of range, a task twice in
--         the list, lists of unequal length
-- Locks:  task_execution (own), task, dedupe, task_group ascending, waves as _end_in_waves; then scheduled and task_group by skip,
--         rate_bucket by skip (only of a definition that has a rate: one probe tells), ready by skip
-- Plan:   primary keys; claims the first p_want unlocked entries of pk_ready: the cost doesn't depend on the backlog
-- Once:   completions by (task, fence); claims by call number
-- Twin:   mssql/sql/procedures/Work.sql
create or replace function taskgate.work(
  p_task_execution_id bigint, p_call_number bigint,
  p_done_task_ids bigint[] default null, p_done_fences bigint[] default null, p_done_durations_ms int[] default null, p_done_results text default null,
  p_started_task_ids bigint[] default null, p_want int default 0,
  p_after_priority smallint default null, p_after_rank bigint default null, p_after_task_id bigint default null,
  p_start_id uuid default null,
  out status text, out fence bigint, out task_ids text, out kinds text, out attempts text, out payloads text, out extras text,
  out started int, out last_priority smallint, out last_rank bigint, out refused_task_ids text, out lease_ms int, out over_limit int,
  out release_requested boolean, out free_tokens int, out next_due_ms bigint, out retry_in_ms bigint, out woken text, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_due_from timestamptz := case when p_after_task_id is null then '-infinity' else v_now - interval '2 seconds' end;   -- a call without the hint saw the rest, at most a second ago
  v_promoted int := 0;
  v_done_count int := coalesce(cardinality(p_done_task_ids), 0);
  e record;
  c record;
  v_in bigint[];
  v_in_fence bigint[];
  v_in_at timestamptz[];
  v_prefetched bigint[];
  v_ok bigint[];
  v_ok_fence bigint[];
  v_durations_ms int[];
  v_ms int;
  v_ran_ms bigint := 0;
  v_results text[];
  v_want int := coalesce(p_want, 0);
  v_woken int[] := '{}';
  v_ids bigint[];
  v_any_solo boolean;
  v_free int;
  v_permits record;
begin
  if v_want not between 0 and 1000 then raise exception 'want: expected 0..1000 (%)', p_want using errcode = 'TG422'; end if;
  if v_done_count <> coalesce(cardinality(p_done_fences), 0) or v_done_count <> coalesce(cardinality(p_done_durations_ms), v_done_count) then
    raise exception 'done_fences: expected as many as done_task_ids (%)', v_done_count using errcode = 'TG422';
  end if;
  if p_call_number is null or p_call_number < 1 then raise exception 'call_number: expected 1 or more (%)', p_call_number using errcode = 'TG422'; end if;
  started := 0; over_limit := 0; release_requested := false; free_tokens := 0;

  -- An empty call that finds nothing writes nothing and takes no lock; the heartbeat renews the lease.
  if v_want > 0 and v_done_count = 0 and p_started_task_ids is null then
    select x.task_definition_id, d.paused,
           exists (select 1 from ready r where r.task_definition_id = x.task_definition_id) as has_ready,
           exists (select 1 from scheduled s where s.task_definition_id = x.task_definition_id and s.run_at <= v_now and s.run_at > v_due_from) as is_due
      into e
      from task_execution x join task_definition d on d.task_definition_id = x.task_definition_id
     where x.task_execution_id = p_task_execution_id and x.state = 1 and x.call_number < p_call_number
       and (p_start_id is null or x.operation_id = p_start_id);
    if found and (e.paused or not (e.has_ready or e.is_due)) then
      status := case when e.paused then 'paused' else 'none' end; over_limit := _over_limit(e.task_definition_id);
      next_due_ms := case when e.is_due then _next_due_ms(e.task_definition_id) else _next_due_from(e.task_definition_id, v_now) end;
      return;
    end if;
  end if;

  -- 1. The execution's own row: only its holder may change its claims.
  select x.task_definition_id, x.state, x.worker, x.build, x.token_count, x.call_number, x.call_fence, x.call_refused, x.is_solo,
         x.inflight, x.inflight_fence, x.inflight_at, x.prefetched,
         d.paused, d.lease_ms, d.prefetch_max, d.execution_tokens, d.retain_done_ms, d.keep_payload, coalesce(d.concurrency_limit_override, d.concurrency_limit) as task_limit,
         v_want > 0 and exists (select 1 from scheduled s where s.task_definition_id = x.task_definition_id and s.run_at <= v_now and s.run_at > v_due_from) as is_due,
         v_want > 0 and exists (select 1 from rate_bucket b where b.task_definition_id = x.task_definition_id) as has_rate,
         exists (select 1 from task_definition_shared_limit l where l.task_definition_id = x.task_definition_id) as has_shared,
         exists (select 1 from token_demand q where q.task_definition_id = x.task_definition_id and q.denied_at > v_now - d.lease_ms * interval '1 ms' - interval '2 seconds') as has_demand   -- else nothing is asked for or reserved
    into e
    from task_execution x join task_definition d on d.task_definition_id = x.task_definition_id
   where x.task_execution_id = p_task_execution_id and (p_start_id is null or x.operation_id = p_start_id) for no key update of x;
  if e.state is distinct from 1 then status := case when e.state = 2 then 'ended' else 'fenced' end; return; end if;
  lease_ms := e.lease_ms;
  if e.has_shared then
    over_limit := _over_limit(e.task_definition_id);
  elsif e.task_limit >= 0 then
    v_free := e.task_limit - _held_tokens(e.execution_tokens);
    if v_free < 0 then over_limit := -v_free; else free_tokens := v_free; end if;
  end if;
  if e.has_demand or e.has_shared then               -- apart: what a condition calls is set up with it, also where it isn't called
    if free_tokens > 0 and e.has_demand and _reserved_ms(e.task_definition_id, v_now) is not null then free_tokens := 0; end if;
    if over_limit = 0 and (e.has_demand and _is_asked(e.task_definition_id, e.lease_ms, e.execution_tokens, e.worker, v_now)
                           or e.has_shared and _is_asked_shared(e.task_definition_id, e.lease_ms, e.worker, v_now)) then
      release_requested := true; free_tokens := 0;
    end if;
  end if;
  if p_call_number <= e.call_number then
    if p_call_number < e.call_number then
      raise exception 'call_number: older than the last one (%)', p_call_number using errcode = 'TG409';
    end if;
    status := 'again'; fence := e.call_fence; refused_task_ids := e.call_refused;
    v_ids := array(select u.id from unnest(e.inflight, e.inflight_fence) with ordinality u(id, f, n) where u.f = e.call_fence order by u.n);
    started := cardinality(v_ids) - cardinality(array(select 1 from unnest(v_ids) u(id) where (u.id in (select unnest(e.prefetched))) is true));
    select x.o_ids, x.o_kinds, x.o_attempts, x.o_payloads, x.o_extras, x.o_last_priority, x.o_last_rank
      into task_ids, kinds, attempts, payloads, extras, last_priority, last_rank from _claimed(v_ids, e.build) x;
    update task_execution set lease_until = greatest(lease_until, v_now + e.lease_ms * interval '1 ms') where task_execution_id = p_task_execution_id;
    return;
  end if;
  v_in := e.inflight; v_in_fence := e.inflight_fence; v_in_at := e.inflight_at; v_prefetched := e.prefetched;

  -- 2. Completed tasks leave. Two short ways first: all that is held, or the oldest part of it.
  --    "is true" and "not in" keep a list from becoming a join: it is hashed once, where a join here would compare each with each.
  if v_done_count > 0 then
    if v_in[:v_done_count] = p_done_task_ids and v_in_fence[:v_done_count] = p_done_fences then
      v_ok := p_done_task_ids; v_ok_fence := p_done_fences;
      v_in := v_in[v_done_count + 1:]; v_in_fence := v_in_fence[v_done_count + 1:]; v_in_at := v_in_at[v_done_count + 1:];
    else
      if (select count(distinct u.id) from unnest(p_done_task_ids) u(id)) <> v_done_count then
        raise exception 'done_task_ids: expected each task once (%)', left(array_to_string(p_done_task_ids, ','), 200) using errcode = 'TG422';
      end if;
      select coalesce(array_agg(a.id order by a.n), '{}'), coalesce(array_agg(a.f order by a.n), '{}') into v_ok, v_ok_fence
        from unnest(p_done_task_ids, p_done_fences) with ordinality a(id, f, n)
       where ((a.id, a.f) in (select b.id, b.f from unnest(v_in, v_in_fence) b(id, f))) is true;
      select string_agg(a.id::text, ',' order by a.n) into refused_task_ids
        from unnest(p_done_task_ids) with ordinality a(id, n) where a.id not in (select unnest(v_ok));
      select coalesce(array_agg(b.id order by b.n), '{}'), coalesce(array_agg(b.f order by b.n), '{}'), coalesce(array_agg(b.at order by b.n), '{}')
        into v_in, v_in_fence, v_in_at
        from unnest(v_in, v_in_fence, v_in_at) with ordinality b(id, f, at, n) where b.id not in (select unnest(v_ok));
    end if;
    if cardinality(v_in) = 0 then
      v_prefetched := '{}';
    elsif cardinality(v_prefetched) > 0 then
      v_prefetched := array(select u.id from unnest(v_prefetched) with ordinality u(id, n) where u.id not in (select unnest(v_ok)) order by u.n);
    end if;
    v_durations_ms := p_done_durations_ms;
    if refused_task_ids is not null then
      v_durations_ms := array(select d.ms from unnest(p_done_task_ids, p_done_durations_ms) with ordinality d(id, ms, n) where (d.id in (select unnest(v_ok))) is true order by d.n);
    end if;
    if v_durations_ms is not null then               -- a query of its own takes as long to start as forty of these turns
      foreach v_ms in array v_durations_ms loop v_ran_ms := v_ran_ms + coalesce(v_ms, 0); end loop;
    end if;
    if p_done_results is not null then
      v_results := array(select r.result from unnest(p_done_task_ids) with ordinality d(id, n)
                           join json_array_elements_text(p_done_results::json) with ordinality r(result, n) on r.n = d.n
                          where (d.id in (select unnest(v_ok))) is true order by d.n);
    end if;
    c := _end_tasks(v_ok, v_ok_fence, array_fill(10::smallint, array[cardinality(v_ok)]), v_durations_ms, v_results, p_task_execution_id, v_now, null, null,
                    false, e.retain_done_ms, e.keep_payload);
    v_woken := c.o_woken;
    if cardinality(c.o_opening) > 0 then opening := _id_list(c.o_opening); end if;
    if cardinality(v_in) = 0 then e.is_solo := false; end if;
  end if;
  if p_started_task_ids is not null and cardinality(v_prefetched) > 0 then
    v_prefetched := array(select u.id from unnest(v_prefetched) with ordinality u(id, n) where u.id not in (select unnest(p_started_task_ids)) order by u.n);
  end if;

  -- 3. Claim: as many as wanted, as the tokens and their prefetched claims allow.
  v_free := e.token_count * (1 + e.prefetch_max) - cardinality(v_in);
  status := case when v_want = 0 then 'done' when e.paused then 'paused' when v_free <= 0 then 'limited' else 'none' end;
  if status = 'none' and not e.is_solo then
    v_want := least(v_want, v_free);
    if e.is_due then v_promoted := _promote(e.task_definition_id, greatest(2 * v_want, 256), v_now); end if;
    if e.has_rate then                               -- last of all that may be held: skipped by others, and nothing is waited for after it
      select * into v_permits from _count_permits(e.task_definition_id, v_want);
      v_want := v_permits.o_allowed;
      if v_want = 0 then status := 'limited'; retry_in_ms := v_permits.o_retry_in_ms; end if;
    end if;
    p_after_priority := coalesce(p_after_priority, -32768); p_after_rank := coalesce(p_after_rank, -9223372036854775808); p_after_task_id := coalesce(p_after_task_id, 0);
    if v_want = 1 then                               -- without a list, in two thirds of the time
      delete from ready d where d.ctid = (
        select r.ctid from ready r
         where r.task_definition_id = e.task_definition_id and (r.priority, r.rank, r.task_id) >= (p_after_priority, p_after_rank, p_after_task_id)
         order by r.priority, r.rank, r.task_id limit 1 for update skip locked)
      returning array[d.task_id], d.is_solo into v_ids, v_any_solo;
    else
      with taken as (
        delete from ready d where d.ctid = any (array(
          select r.ctid from ready r
           where r.task_definition_id = e.task_definition_id
             and (r.priority, r.rank, r.task_id) >= (p_after_priority, p_after_rank, p_after_task_id)   -- always a place: it bounds the index scan
           order by r.priority, r.rank, r.task_id limit v_want for update skip locked))
        returning d.priority, d.rank, d.task_id, d.is_solo)
      select array_agg(t.task_id order by t.priority, t.rank, t.task_id), bool_or(t.is_solo) into v_ids, v_any_solo from taken t;
    end if;
    if v_any_solo then
      v_ids := _keep_solo(e.task_definition_id, v_ids, cardinality(v_in) = 0);
      e.is_solo := cardinality(v_in) = 0 and exists (select 1 from task t where t.task_id = v_ids[1] and t.lost_count >= 2);
    end if;
    if cardinality(v_ids) > 0 then
      status := 'claimed'; fence := nextval('fence_sequence');
      c := _claimed(v_ids, e.build);
      task_ids := c.o_ids; kinds := c.o_kinds; attempts := c.o_attempts; payloads := c.o_payloads; extras := c.o_extras;
      last_priority := c.o_last_priority; last_rank := c.o_last_rank;
      started := greatest(least(e.token_count - (cardinality(v_in) - cardinality(v_prefetched)), cardinality(v_ids)), 0);
      v_prefetched := v_prefetched || v_ids[started + 1:];
      v_in := v_in || v_ids;
      v_in_fence := v_in_fence || array_fill(fence, array[cardinality(v_ids)]);
      v_in_at := v_in_at || array_fill(v_now, array[cardinality(v_ids)]);
      if e.has_rate then
        perform _use_permits(e.task_definition_id, cardinality(v_ids), v_permits.o_from, v_permits.o_interval_us);
        if cardinality(v_ids) = v_want then retry_in_ms := v_permits.o_retry_in_ms; end if;
      end if;
    end if;
    if coalesce(cardinality(v_ids), 0) < v_want or v_promoted >= 128 then
      next_due_ms := case when e.is_due then _next_due_ms(e.task_definition_id) else _next_due_from(e.task_definition_id, v_now) end;
    end if;
  end if;

  update task_execution
     set inflight = v_in, inflight_fence = v_in_fence, inflight_at = v_in_at, prefetched = v_prefetched, is_solo = e.is_solo,
         lease_until = greatest(lease_until, v_now + e.lease_ms * interval '1 ms'),   -- a heartbeat may have come between
         call_number = p_call_number, call_fence = work.fence, call_refused = work.refused_task_ids,
         claimed_count = claimed_count + coalesce(cardinality(v_ids), 0), done_count = done_count + coalesce(cardinality(v_ok), 0),
         ran_ms = ran_ms + v_ran_ms
   where task_execution_id = p_task_execution_id;
  if cardinality(v_woken) > 0 then woken := _definition_names(v_woken, e.task_definition_id); end if;
end $$;
