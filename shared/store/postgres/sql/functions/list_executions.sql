-- taskgate.list_executions: who works, with how many tokens, since when.
-- In:     p_name: of one definition, or null; p_is_open: only live or dead and not yet reclaimed; p_max int 1..1000
-- Out:    status: listed; executions: JSON array, newest first, of {execution, definition, state: live | ended | dead | reclaimed,
--           worker, startedAt, endedAt, leaseLeftMs (may be negative), tokens, claimed,
--           running: claims that count as started, never more than tokens, prefetched: the others; both 0 once the lease is over}
-- Raises: TG422 max out of range
-- Locks:  none
-- Plan:   ix_task_execution_open, or the primary key backwards
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListExecutions.sql
create or replace function taskgate.list_executions(p_name text, p_is_open boolean, p_max int, out status text, out executions text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
begin
  perform _check_range('max', p_max, 1, 1000);
  select d.task_definition_id into v_definition from task_definition d where d.name = p_name;
  status := 'listed';
  select coalesce('[' || string_agg(json_build_object(
           'execution', x.task_execution_id::text, 'definition', x.name, 'state', (array['live', 'ended', 'dead', 'reclaimed'])[x.state],
           'worker', x.worker, 'startedAt', _iso(x.started_at), 'endedAt', _iso(x.ended_at),
           'leaseLeftMs', case when x.state = 1 then floor(extract(epoch from x.lease_until - v_now) * 1000)::bigint end,
           'tokens', x.token_count, 'claimed', cardinality(x.inflight), 'running', coalesce(x.running, 0),
           'prefetched', coalesce(cardinality(x.inflight) - x.running, 0))::text, ',' order by x.task_execution_id desc) || ']', '[]')
    into executions
    from (select e.*, (select d.name from task_definition d where d.task_definition_id = e.task_definition_id) as name,
                 case when e.state = 1 and e.lease_until >= v_now
                   then least(e.token_count, cardinality(e.inflight) - cardinality(e.prefetched)) end as running
            from task_execution e
           where e.task_execution_id = any (case when p_is_open
             then array(select o.task_execution_id from task_execution o       -- by ix_task_execution_open
                         where o.state in (1, 3) and (p_name is null or o.task_definition_id = v_definition)
                         order by o.task_execution_id desc limit p_max)
             else array(select a.task_execution_id from task_execution a
                         where p_name is null or a.task_definition_id = v_definition order by a.task_execution_id desc limit p_max) end)) x;
end $$;
