-- taskgate.roll_up_statistics: adds the counts of executions since the last call to the statistics of their definitions, by minute, ten
--         minutes and hour. It deletes statistics that are too old. The sweep calls it until nothing is left.
-- In:     p_max int 1..1000: executions that began since the last call to be looked at, and rows to be deleted of each length
-- Out:    status: rolled | busy (another call is at it: nothing was done); executions: looked at; deleted: rows of periods;
--         more: call again
-- Raises: TG422 max out of range
-- Locks:  statistic_round by skip (one call at a time); the rest is written by its holder only. No execution waits for it
-- Plan:   task_execution behind the remembered place, by key; open executions that were counted before; per definition the first 1000 ready
--         entries; per definition of which tasks ended well the newest 50, by ix_archive_finished and ix_archive_pack_finished; ix_statistic_at
-- Once:   each count is added once: the totals of an open execution are remembered. An execution counts at the minute in which it
--         ended, else at this one
-- Twin:   mssql/sql/procedures/RollUpStatistics.sql
create or replace function taskgate.roll_up_statistics(
  p_max int, out status text, out executions int, out deleted int, out more boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_round record;
  v_new bigint[];
  v_ids bigint[];
  v_last bigint;
  v_seen task_execution[];
  v_count int;
  g record;
begin
  perform _check_range('max', p_max, 1, 1000);
  status := 'busy'; executions := 0; deleted := 0; more := false;
  select r.last_execution_id, r.ended_at into v_round from statistic_round r where r.round_id = 1 for update skip locked;
  if not found then return; end if;
  status := 'rolled';

  -- 1. Which executions. Ids may become visible in another order than they were given: those of the last seconds are looked at again.
  v_new := array(select e.task_execution_id from task_execution e where e.task_execution_id > v_round.last_execution_id order by e.task_execution_id limit p_max);
  v_ids := array(select c.task_execution_id from execution_counted c where c.task_execution_id <= v_round.last_execution_id order by c.task_execution_id) || v_new;
  executions := cardinality(v_ids);
  v_last := coalesce((
    select max(x.id) from (
      select e.task_execution_id as id, bool_and(e.started_at < v_now - interval '10 s') over (order by e.task_execution_id) as is_settled
        from unnest(v_new) u(id) join task_execution e on e.task_execution_id = u.id) x where x.is_settled), v_round.last_execution_id);

  -- Read once: the counted totals are the remembered ones, although tasks and executions end meanwhile.
  v_seen := array(select e from unnest(v_ids) u(id) join task_execution e on e.task_execution_id = u.id);

  -- 2. Their counts since, and ready tasks of now, by definition and period.
  with seen as materialized (
    select e.task_definition_id, date_bin('1 minute', case when e.state in (1, 3) then v_now else coalesce(e.ended_at, v_now) end, '2000-01-01Z') as minute_at,
           e.claimed_count - coalesce(c.claimed_count, 0) as claimed, e.done_count - coalesce(c.done_count, 0) as done,
           e.failed_count - coalesce(c.failed_count, 0) as failed, e.dead_count - coalesce(c.dead_count, 0) as dead,
           e.lost_count - coalesce(c.lost_count, 0) as lost, e.ran_ms - coalesce(c.ran_ms, 0) as ran_ms,
           e.held_ms + case when e.token_count > 0 then (e.token_count * extract(epoch from v_now - coalesce(e.tokens_at, e.started_at)) * 1000)::bigint else 0 end - coalesce(c.held_ms, 0) as held_ms
      from unnest(v_seen) e left join execution_counted c on c.task_execution_id = e.task_execution_id),
  counted as materialized (
    select s.task_definition_id, s.minute_at, sum(s.claimed)::int as claimed, sum(s.done)::int as done, sum(s.failed)::int as failed,
           sum(s.dead)::int as dead, sum(s.lost)::int as lost, sum(s.ran_ms)::bigint as ran_ms, sum(s.held_ms)::bigint as held_ms
      from seen s group by s.task_definition_id, s.minute_at
    having sum(s.claimed) + sum(s.done) + sum(s.failed) + sum(s.dead) + sum(s.lost) + sum(s.ran_ms) + sum(s.held_ms) > 0),
  waiting as (
    select d.task_definition_id, date_bin('1 minute', v_now, '2000-01-01Z') as minute_at, r.ready,
           greatest(extract(epoch from v_now - greatest(coalesce(t.due_at, t.created_at), (select w.opened_at from wave w where w.wave_id = t.wave_id))) * 1000, 0)::bigint as next_age_ms
      from task_definition d
     cross join lateral (select count(*)::int as ready from (select 1 from ready x where x.task_definition_id = d.task_definition_id limit 1000) c) r
     cross join lateral (select x.task_id from ready x where x.task_definition_id = d.task_definition_id order by x.priority, x.rank, x.task_id limit 1) h
      join task t on t.task_id = h.task_id),
  parts as (
    select c.*, 0 as ready, 0::bigint as next_age_ms from counted c
    union all
    select w.task_definition_id, w.minute_at, 0, 0, 0, 0, 0, 0, 0, w.ready, w.next_age_ms from waiting w),
  added as (
    insert into statistic as s (task_definition_id, grain, at, claimed, done, failed, dead, lost, ran_ms, held_ms, task_limit, ready, next_age_ms)
    select p.task_definition_id, l.grain, date_bin(l.grain * interval '1 minute', p.minute_at, '2000-01-01Z'), sum(p.claimed), sum(p.done), sum(p.failed), sum(p.dead),
           sum(p.lost), sum(p.ran_ms), sum(p.held_ms), coalesce(d.concurrency_limit_override, d.concurrency_limit), max(p.ready), max(p.next_age_ms)
      from parts p cross join (values (1), (10), (60)) l(grain)
      join task_definition d on d.task_definition_id = p.task_definition_id
     group by p.task_definition_id, l.grain, date_bin(l.grain * interval '1 minute', p.minute_at, '2000-01-01Z'), d.concurrency_limit_override, d.concurrency_limit
        on conflict (task_definition_id, grain, at) do update
       set claimed = s.claimed + excluded.claimed, done = s.done + excluded.done, failed = s.failed + excluded.failed, dead = s.dead + excluded.dead,
           lost = s.lost + excluded.lost, ran_ms = s.ran_ms + excluded.ran_ms, held_ms = s.held_ms + excluded.held_ms,
           task_limit = excluded.task_limit, ready = greatest(s.ready, excluded.ready), next_age_ms = greatest(s.next_age_ms, excluded.next_age_ms)),
  ended as (                                         -- by definition: how many ended well, and in which minute the last of them
    select c.task_definition_id, sum(c.done)::int as done, max(c.minute_at) as minute_at from counted c where c.done > 0 group by c.task_definition_id),
  sample as materialized (
    select n.task_definition_id, n.done, n.minute_at, y.ran_ms, y.waited_ms, count(*) over (partition by n.task_definition_id) as looked_at
      from ended n cross join lateral (
        select * from (
          (select a.duration_ms::bigint as ran_ms, extract(epoch from a.finished_at - a.created_at) * 1000 as whole_ms, a.finished_at, a.task_id from archive a
            where a.task_definition_id = n.task_definition_id and a.outcome = 10 and a.finished_at > v_round.ended_at
            order by a.finished_at desc, a.task_id desc limit 50)
          union all                                  -- the newest packs, as many as are needed
          (select u.duration_ms, extract(epoch from k.finished_at - u.created_at) * 1000, k.finished_at, u.task_id
             from archive_pack k cross join lateral unnest(k.task_ids, k.durations_ms, k.created_ats) u(task_id, duration_ms, created_at)
            where k.task_definition_id = n.task_definition_id and k.finished_at > v_round.ended_at
            order by k.finished_at desc, u.task_id desc limit 50)) x
         order by x.finished_at desc, x.task_id desc limit 50) z
     cross join lateral (select z.ran_ms, greatest(z.whole_ms - coalesce(z.ran_ms, 0), 0)::bigint as waited_ms) y),
  times as (
    select s.task_definition_id, s.minute_at, m.measure, m.bucket, greatest(round(count(*) * max(s.done)::numeric / max(s.looked_at)), 1)::int as tasks
      from sample s cross join lateral (values (1::smallint, _duration_bucket(s.ran_ms)), (2::smallint, _duration_bucket(s.waited_ms))) m(measure, bucket)
     where m.measure = 2 or s.ran_ms is not null
     group by s.task_definition_id, s.minute_at, m.measure, m.bucket)
  insert into statistic_time as s (task_definition_id, grain, at, measure, bucket, tasks)
  select t.task_definition_id, l.grain, date_bin(l.grain * interval '1 minute', t.minute_at, '2000-01-01Z'), t.measure, t.bucket, t.tasks
    from times t cross join (values (1), (10), (60)) l(grain)
      on conflict (task_definition_id, grain, at, measure, bucket) do update set tasks = s.tasks + excluded.tasks;

  -- 3. Totals to remember: of executions that may go on, and of those that are looked at again.
  delete from execution_counted c where c.task_execution_id = any (v_ids);
  insert into execution_counted (task_execution_id, claimed_count, done_count, failed_count, dead_count, lost_count, ran_ms, held_ms)
  select e.task_execution_id, e.claimed_count, e.done_count, e.failed_count, e.dead_count, e.lost_count, e.ran_ms,
         e.held_ms + case when e.token_count > 0 then (e.token_count * extract(epoch from v_now - coalesce(e.tokens_at, e.started_at)) * 1000)::bigint else 0 end
    from unnest(v_seen) e
   where e.state in (1, 3) or e.task_execution_id > v_last;

  -- 4. Old periods go.
  for g in select * from (values (1, interval '3 hours'), (10, interval '3 days'), (60, interval '90 days')) l(grain, kept) loop
    with old as (
      select s.task_definition_id, s.grain, s.at from statistic s
       where s.grain = g.grain and s.at < v_now - g.kept order by s.at limit p_max),
    times as (
      delete from statistic_time t using old o where t.task_definition_id = o.task_definition_id and t.grain = o.grain and t.at = o.at)
    delete from statistic s using old o where s.task_definition_id = o.task_definition_id and s.grain = o.grain and s.at = o.at;
    get diagnostics v_count = row_count;
    deleted := deleted + v_count;
    more := more or v_count = p_max;
  end loop;
  more := more or (cardinality(v_new) = p_max and v_last = v_new[p_max]);
  update statistic_round r set last_execution_id = v_last, ended_at = v_now where r.round_id = 1;
end $$;
