-- taskgate.list_tasks: tasks of a definition in one state.
-- In:     p_name; p_state: ready | scheduled | waiting | claimed | done | dead | cancelled; p_max int 1..1000
-- Out:    status: listed; tasks: JSON array of {task, kind, priority, state: p_state, or of a claimed one running | prefetched | lost (its worker's
--           lease is over), createdAt, dueAt, claimedAt, finishedAt, failedCount, lostCount, error, worker}: unfinished ones in the order
--           they will be taken, claimed ones in that of the states above, finished ones newest first
-- Raises: TG404 unknown definition; TG422 unknown state, max out of range
-- Locks:  none
-- Plan:   the container's key under the definition; ix_archive_finished and ix_archive_pack_finished backwards
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListTasks.sql
create or replace function taskgate.list_tasks(p_name text, p_state text, p_max int, out status text, out tasks text)
language plpgsql security definer
set search_path = taskgate, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  v_outcome smallint;
begin
  perform _check_range('max', p_max, 1, 1000);
  if p_state is null or p_state not in ('ready', 'scheduled', 'waiting', 'claimed', 'done', 'dead', 'cancelled') then
    raise exception 'state: expected ready, scheduled, waiting, claimed, done, dead or cancelled (%)', left(p_state, 220) using errcode = 'TG422';
  end if;
  v_definition := _find_definition(p_name);
  status := 'listed';
  v_outcome := case p_state when 'done' then 10 when 'dead' then 11 when 'cancelled' then 12 end;
  if v_outcome is not null then
    select coalesce('[' || string_agg(json_build_object(
             'task', a.task_id::text, 'kind', a.kind, 'priority', a.priority, 'state', p_state, 'createdAt', _iso(a.created_at), 'finishedAt', _iso(a.finished_at),
             'failedCount', a.failed_count, 'lostCount', a.lost_count, 'error', a.error, 'worker', e.worker)::text, ',' order by a.finished_at desc, a.task_id desc) || ']', '[]')
      into tasks
      from (select * from (
              (select x.task_id, x.kind, x.priority, x.created_at, x.finished_at, x.failed_count, x.lost_count, x.error, x.task_execution_id from archive x
                where x.task_definition_id = v_definition and x.outcome = v_outcome order by x.finished_at desc, x.task_id desc limit p_max)
              union all                              -- the newest packs, as many as are needed
              (select u.task_id, k.kind, k.priority, u.created_at, k.finished_at, 0, 0, null, k.task_execution_id
                 from archive_pack k cross join lateral unnest(k.task_ids, k.created_ats) u(task_id, created_at)
                where v_outcome = 10 and k.task_definition_id = v_definition order by k.finished_at desc, u.task_id desc limit p_max)) x
             order by x.finished_at desc, x.task_id desc limit p_max) a
      left join task_execution e on e.task_execution_id = a.task_execution_id;
    return;
  end if;
  select coalesce('[' || string_agg(json_build_object(
           'task', t.task_id::text, 'kind', t.kind, 'priority', t.priority, 'state', coalesce(x.standing, p_state), 'createdAt', _iso(t.created_at), 'dueAt', _iso(x.due_at), 'claimedAt', _iso(x.claimed_at),
           'failedCount', t.failed_count, 'lostCount', t.lost_count, 'error', t.last_error, 'worker', x.worker)::text, ',' order by x.n) || ']', '[]')
    into tasks
    from (
      select c.*, row_number() over () as n from (
        (select r.task_id, null::timestamptz as due_at, null as worker, null::timestamptz as claimed_at, null as standing from ready r
          where p_state = 'ready' and r.task_definition_id = v_definition order by r.priority, r.rank, r.task_id limit p_max)
        union all
        (select s.task_id, s.run_at, null, null, null from scheduled s
          where p_state = 'scheduled' and s.task_definition_id = v_definition order by s.run_at, s.task_id limit p_max)
        union all
        (select w.task_id, null, null, null, null from group_waiting w
          where p_state = 'waiting' and w.task_definition_id = v_definition order by w.group_id, w.priority, w.rank, w.task_id limit p_max)
        union all
        (select u.id, null, e.worker, u.at, (array['running', 'prefetched', 'lost'])[u.standing]
           from task_execution e cross join lateral (
             select y.id, y.at, case when e.state <> 1 or e.lease_until < v_now then 3   -- the first ones that count as started, one per token
                                     when not y.is_prefetched and row_number() over (partition by y.is_prefetched order by y.n) <= e.token_count then 1 else 2 end as standing
               from (select i.id, i.at, i.n, i.id = any (e.prefetched) as is_prefetched from unnest(e.inflight, e.inflight_at) with ordinality i(id, at, n)) y) u
          where p_state = 'claimed' and e.task_definition_id = v_definition and e.state in (1, 3)
          order by u.standing, e.task_execution_id, u.id limit p_max)) c) x
    join task t on t.task_id = x.task_id;
end $$;
