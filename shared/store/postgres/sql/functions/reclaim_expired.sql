-- taskgate.reclaim_expired: takes back what dead executions held. What they had started counts as lost; a task lost more
--         often than lost_max ends dead; the rest is ready again, first within its priority because its id is old.
-- In:     p_max int 1..1000 executions
-- Out:    status: reclaimed | none; executions: how many; tasks_back; tasks_lost: counted as lost; tasks_dead: ended dead, without those ended on request;
--         definitions: JSON array of names of the reclaimed executions' and of those that got ready tasks, or null; more: others are left for the next call
--         opening: JSON array of batches to be pumped (pump_batch), or null
-- Raises: TG422 max out of range
-- Locks:  task_execution ascending by skip (a row locked by its own worker is alive), task, then all ends as in _end_tasks;
--         never a token row: the next asker finds the dead holder by itself
-- Plan:   ix_task_execution_open of each definition
-- Once:   by state
-- Twin:   mssql/sql/procedures/ReclaimExpired.sql
create or replace function taskgate.reclaim_expired(
  p_max int, out status text, out executions int, out tasks_back int, out tasks_lost int, out tasks_dead int, out definitions text, out more boolean, out opening text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  e record;
  v_dead bigint[] := '{}';
  v_dead_fences bigint[] := '{}';
  v_dead_executions bigint[] := '{}';
  v_outcomes smallint[];
  v_some bigint[];
  v_some_fences bigint[];
  v_lost int;
  v_woken int[] := '{}';
  c record;
begin
  perform _check_range('max', p_max, 1, 1000);
  executions := 0; tasks_back := 0; tasks_lost := 0; tasks_dead := 0;
  for e in
    select x.* from task_execution x
     where x.state in (1, 3) and (x.state = 3 or x.lease_until < v_now)
     order by x.task_execution_id limit p_max for no key update skip locked
  loop
    executions := executions + 1;
    update task_execution x
       set state = 4, ended_at = coalesce(x.ended_at, v_now), token_count = 0,
           held_ms = x.held_ms + (x.token_count * extract(epoch from v_now - coalesce(x.tokens_at, x.started_at)) * 1000)::bigint, tokens_at = v_now,
           inflight = '{}', inflight_fence = '{}', inflight_at = '{}', prefetched = '{}'
     where x.task_execution_id = e.task_execution_id;
    continue when cardinality(e.inflight) = 0;
    v_woken := v_woken || e.task_definition_id;
    insert into attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome, error)
    select u.id, u.f, e.task_execution_id, u.at, v_now, 13, 'the worker lost its lease'
      from unnest(e.inflight, e.inflight_fence, e.inflight_at) u(id, f, at) where u.id <> all (e.prefetched);
    update task t set lost_count = t.lost_count + 1, last_error = 'the worker lost its lease'
     where t.task_id = any (e.inflight) and t.task_id <> all (e.prefetched);
    get diagnostics v_lost = row_count;
    tasks_lost := tasks_lost + v_lost;
    select array_agg(t.task_id), array_agg(u.f) into v_some, v_some_fences
      from unnest(e.inflight, e.inflight_fence) u(id, f) join task t on t.task_id = u.id join task_definition d on d.task_definition_id = t.task_definition_id
     where t.cancel_requested or (t.lost_count > d.lost_max and t.task_id <> all (e.prefetched));
    update task_execution x
       set lost_count = v_lost,
           dead_count = x.dead_count + (select count(*) from unnest(v_some) u(id) join task t on t.task_id = u.id where not t.cancel_requested)
     where x.task_execution_id = e.task_execution_id and (v_lost > 0 or v_some is not null);
    insert into ready (task_definition_id, priority, rank, task_id, is_solo)
    select t.task_definition_id, t.priority, t.rank, t.task_id, t.lost_count >= 2
      from unnest(e.inflight) u(id) join task t on t.task_id = u.id where v_some is null or t.task_id <> all (v_some);
    tasks_back := tasks_back + cardinality(e.inflight) - coalesce(cardinality(v_some), 0);
    if v_some is not null then
      v_dead := v_dead || v_some; v_dead_fences := v_dead_fences || v_some_fences;
      v_dead_executions := v_dead_executions || array_fill(e.task_execution_id, array[cardinality(v_some)]);
    end if;
  end loop;
  if cardinality(v_dead) > 0 then                    -- after the loop: each lock level once, ascending
    v_outcomes := array(select case when t.cancel_requested then 12 else 11 end::smallint
      from unnest(v_dead) with ordinality u(id, n) join task t on t.task_id = u.id order by u.n);
    select * into c from _end_tasks(v_dead, v_dead_fences, v_outcomes, null, null, null, v_now, null, null);
    v_woken := v_woken || c.o_woken; opening := _id_list(c.o_opening);
    -- _end_tasks knows one execution; here each task has its own.
    update archive a set task_execution_id = u.execution
      from unnest(v_dead, v_dead_executions) u(id, execution) where a.task_id = u.id;
    tasks_dead := cardinality(array_positions(v_outcomes, 11::smallint));
  end if;
  status := case when executions > 0 then 'reclaimed' else 'none' end;
  more := executions = p_max;
  definitions := _definition_names(v_woken, 0);
end $$;
