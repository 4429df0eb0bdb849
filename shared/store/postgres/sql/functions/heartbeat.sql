-- taskgate.heartbeat: renews the leases of all executions of one process, and tells what they should know.
-- In:     p_executions text: JSON array of 1..1000 {execution, start, started: [task ids]}: prefetched claims started since the last report;
--           start: as p_start_id of work, or left out
-- Out:    status: done; executions: JSON array, by execution id and then in their order, of {execution, start: as it was given, status: renewed | fenced | ended | busy (its row
--         was locked by its own call, which renews it), leaseMs, tokens and claims: so many it holds, cancel: [task ids], overLimit, releaseRequested (as of work; for an
--         execution that was denied only where this one holds several, or one for calls of functions without tasks), paused}
-- Raises: TG422 not such a list, an id that is no number, or a start that is no UUID
-- Locks:  task_execution ascending, by skip
-- Plan:   primary keys
-- Once:   naturally
-- Twin:   mssql/sql/procedures/Heartbeat.sql
create or replace function taskgate.heartbeat(p_executions text, out status text, out executions text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_bad text;
begin
  if not _is_json_list(p_executions) or json_array_length(p_executions::json) not between 1 and 1000
     or exists (select 1 from json_array_elements(p_executions::json) j(value) where json_typeof(j.value) <> 'object') then
    raise exception 'executions: expected a JSON array of 1..1000 entries' using errcode = 'TG422';
  end if;
  select format('executions[%s].%s: expected %s (%s)', b.n - 1, b.field, case b.field when 'execution' then 'an id' when 'start' then 'a UUID' else 'ids' end,
                left(b.value, 100)) into v_bad
    from (select j.n, 'execution' as field, 0::bigint as k, j.value ->> 'execution' as value
            from json_array_elements(p_executions::json) with ordinality j(value, n)
          union all
          select j.n, 'start', 0, j.value ->> 'start'
            from json_array_elements(p_executions::json) with ordinality j(value, n)
          union all
          select j.n, 'started', s.k, s.value
            from json_array_elements(p_executions::json) with ordinality j(value, n)
           cross join lateral json_array_elements_text(
             case when json_typeof(j.value -> 'started') = 'array' then j.value -> 'started' else '[]'::json end) with ordinality s(value, k)) b
   where case when b.value is null then false when b.field = 'start' then b.value !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' when b.value ~ '^\s*[+-]?\d{1,19}\s*$' then b.value::numeric not between -9223372036854775808 and 9223372036854775807
              else true end
   order by b.n, b.field, b.k limit 1;
  if v_bad is not null then raise exception '%', v_bad using errcode = 'TG422'; end if;
  status := 'done';
  with asked as materialized (
    select (j.value ->> 'execution')::bigint as id, j.value ->> 'start' as start, j.n,
           j.value ->> 'start' is null   -- a scalar subselect: exists might be hashed, with all executions
             or ((select x.operation_id from task_execution x where x.task_execution_id = (j.value ->> 'execution')::bigint) = (j.value ->> 'start')::uuid) is true as is_own,
           array(select s.value::bigint from json_array_elements_text(case when json_typeof(j.value -> 'started') = 'array' then j.value -> 'started' else '[]'::json end) s(value)
                  where s.value is not null) as started
      from json_array_elements(p_executions::json) with ordinality j(value, n)
     where j.value ->> 'execution' is not null),
  held as materialized (
    select e.task_execution_id as id,
           array(select s.id from asked a cross join unnest(a.started) s(id) where a.id = e.task_execution_id and a.is_own) as started
      from task_execution e where e.task_execution_id = any (array(select a.id from asked a where a.is_own)) and e.state = 1
     order by e.task_execution_id for no key update skip locked),
  renewed as (
    update task_execution e
       set lease_until = greatest(e.lease_until, v_now + d.lease_ms * interval '1 ms'),
           prefetched = case when cardinality(h.started) = 0 then e.prefetched
                        else array(select u.id from unnest(e.prefetched) with ordinality u(id, n) where u.id <> all (h.started) order by u.n) end
      from held h, task_definition d
     where e.task_execution_id = h.id and d.task_definition_id = e.task_definition_id
    returning e.task_execution_id as id, e.inflight, d.lease_ms, d.paused, d.task_definition_id, e.token_count, starts_with(d.name, 'calls:') as is_calls,
              _over_limit(d.task_definition_id) as over_limit)
  select '[' || string_agg(
           case when r.id is not null then
             json_build_object('execution', a.id::text, 'start', a.start, 'status', 'renewed', 'leaseMs', r.lease_ms, 'tokens', r.token_count, 'claims', cardinality(r.inflight), 'paused', r.paused, 'overLimit', r.over_limit,
               'releaseRequested', r.over_limit = 0 and r.token_count > case when r.is_calls then 0 else 1 end
                                   and (_open_demand(r.task_definition_id, r.lease_ms, v_now) is not null
                                        or exists (select 1 from _shared_demand(r.task_definition_id, r.lease_ms, v_now) q where q.open_since is not null)),
               'cancel', array(select t.task_id::text from unnest(r.inflight) u(id) join task t on t.task_id = u.id where t.cancel_requested order by t.task_id))
           else
             json_build_object('execution', a.id::text, 'start', a.start, 'status', coalesce((
               select case e.state when 1 then 'busy' when 2 then 'ended' else 'fenced' end from task_execution e where e.task_execution_id = a.id and a.is_own), 'fenced'))
           end::text, ',' order by a.id, a.n) || ']'
    into executions
    from asked a left join renewed r on r.id = a.id and a.is_own;
  executions := coalesce(executions, '[]');
end $$;
