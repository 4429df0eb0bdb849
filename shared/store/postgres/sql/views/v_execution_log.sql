-- taskgate.v_execution_log: the log of attempts, one row each: running, prefetched, done, failed, cancelled, lost, continued.
-- Columns: task_id, definition, kind, payload, worker, started_at, ended_at, duration_ms, outcome, error, task_execution_id, fence
--          started_at = ended_at less the worker's measured duration; of a running or lost attempt: when it was claimed;
--          of any other without a told duration: when it was claimed, or null where it is done
--          Of one task it reads the whole log: explain_task tells one task's attempts
-- Twin:    mssql/sql/views/vExecutionLog.sql
create or replace view taskgate.v_execution_log as
select t.task_id, d.name as definition, t.kind, t.payload, e.worker, c.at as started_at, null::timestamptz as ended_at, null::int as duration_ms,
       case when e.state <> 1 then 'lost'             -- declared dead; else as list_tasks
            when c.id <> all (e.prefetched) and (select count(*) from unnest(e.inflight) with ordinality y(id, n)
                                             where y.n < c.n and y.id <> all (e.prefetched)) < e.token_count then 'running'
            else 'prefetched' end as outcome, null::text as error, e.task_execution_id, c.f as fence
  from taskgate.task_execution e
 cross join lateral unnest(e.inflight, e.inflight_fence, e.inflight_at) with ordinality c(id, f, at, n)
  join taskgate.task t on t.task_id = c.id
  join taskgate.task_definition d on d.task_definition_id = t.task_definition_id
union all
select a.task_id, d.name, a.kind, a.payload, e.worker, a.finished_at - a.duration_ms * interval '1 ms', a.finished_at, a.duration_ms,
       'done', null, a.task_execution_id, a.fence
  from taskgate.archived a
  join taskgate.task_definition d on d.task_definition_id = a.task_definition_id
  left join taskgate.task_execution e on e.task_execution_id = a.task_execution_id
 where a.outcome = 10
union all
select p.task_id, d.name, coalesce(t.kind, a.kind), coalesce(t.payload, a.payload), e.worker,
       coalesce(p.finished_at - p.duration_ms * interval '1 ms', p.claimed_at), p.finished_at, p.duration_ms,
       case p.outcome when 11 then 'failed' when 12 then 'cancelled' when 13 then 'lost' else 'continued' end, p.error, p.task_execution_id, p.fence
  from taskgate.attempt p
  left join taskgate.task t on t.task_id = p.task_id
  left join taskgate.archived a on a.task_id = p.task_id and a.first_task_id between p.task_id - 4095 and p.task_id and a.last_task_id >= p.task_id
  left join taskgate.task_definition d on d.task_definition_id = coalesce(t.task_definition_id, a.task_definition_id)
  left join taskgate.task_execution e on e.task_execution_id = p.task_execution_id;
