-- taskgate.read_pace: how fast a definition's tasks end, how long they run, and which ready one is the oldest.
-- In:     p_name; p_max int 1..1000: so many of the tasks that ended well within the last hour are looked at, the newest ones
-- Out:    status: read; now_at ISO-8601: the database's clock; oldest_task_id, oldest_created_at, oldest_due_at: of the first 100 ready tasks of each
--           priority, at most 20 priorities, the one that may start since the earliest instant, which due_at is; null: none is ready
--         finished int: tasks looked at; over_ms bigint: from the end of the earliest of them until now; null: there is none
--         kinds: JSON array, by kind, of {kind, finished, p50Ms, p99Ms: the durations that half and 99 of 100 of the measured ones reach
--           at most, or null}
-- Raises: TG404 unknown definition; TG422 max out of range
-- Locks:  none
-- Plan:   one probe and one range of pk_ready per priority; pk_task, pk_wave; ix_archive_finished and ix_archive_pack_finished backwards,
--           with no sort of a whole state, as list_tasks
-- Once:   a read
-- Twin:   mssql/sql/procedures/ReadPace.sql
create or replace function taskgate.read_pace(
  p_name text, p_max int, out status text, out now_at text, out oldest_task_id bigint, out oldest_created_at text, out oldest_due_at text,
  out finished int, out over_ms bigint, out kinds text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
begin
  perform _check_range('max', p_max, 1, 1000);
  v_definition := _find_definition(p_name);
  status := 'read';
  now_at := _iso(v_now);
  with recursive head as (                           -- the priorities
    (select r.priority, 1 as n from ready r where r.task_definition_id = v_definition order by r.priority limit 1)
    union all
    select x.priority, h.n + 1
      from head h cross join lateral (
        select r.priority from ready r where r.task_definition_id = v_definition and r.priority > h.priority order by r.priority limit 1) x
     where h.n < 20)
  select t.task_id, _iso(t.created_at), _iso(x.at) into oldest_task_id, oldest_created_at, oldest_due_at
    from head h
   cross join lateral (select r.task_id from ready r where r.task_definition_id = v_definition and r.priority = h.priority order by r.rank, r.task_id limit 100) f
    join task t on t.task_id = f.task_id
   cross join lateral (select greatest(coalesce(t.due_at, t.created_at), (select w.opened_at from wave w where w.wave_id = t.wave_id)) as at) x
   order by x.at, t.task_id limit 1;
  with done as materialized (
    select * from (
      (select a.kind, a.duration_ms, a.finished_at, a.task_id from archive a
        where a.task_definition_id = v_definition and a.outcome = 10 and a.finished_at > v_now - interval '1 hour'
        order by a.finished_at desc, a.task_id desc limit p_max)
      union all                                      -- the newest packs, as many as are needed
      (select k.kind, u.duration_ms, k.finished_at, u.task_id
         from archive_pack k cross join lateral unnest(k.task_ids, k.durations_ms) u(task_id, duration_ms)
        where k.task_definition_id = v_definition and k.finished_at > v_now - interval '1 hour'
        order by k.finished_at desc, u.task_id desc limit p_max)) x
     order by x.finished_at desc, x.task_id desc limit p_max)
  select count(*)::int, ceil(extract(epoch from v_now - min(d.finished_at)) * 1000)::bigint,
         coalesce('[' || (select string_agg(json_build_object('kind', g.kind, 'finished', g.n, 'p50Ms', g.p50, 'p99Ms', g.p99)::text, ',' order by g.kind)
                            from (select y.kind, count(*) as n, percentile_disc(0.5) within group (order by y.duration_ms) as p50,
                                         percentile_disc(0.99) within group (order by y.duration_ms) as p99
                                    from done y group by y.kind) g) || ']', '[]')
    into finished, over_ms, kinds from done d;
end $$;
