-- taskgate.read_statistics: the counts of roll_up_statistics, by period.
-- In:     p_name text: a definition, null: all; p_grain int: the periods' length, 1, 10 or 60 minutes; p_max int 1..720: so many
--         periods back from now, with p_name null 1..12
-- Out:    status: read; now_at ISO-8601: the database's clock; counted_at ISO-8601: until then all is counted
--         periods: JSON array, by definition, then time, of {definition, at ISO-8601: its begin, claimed, done, failed: attempts, dead, lost: tasks,
--           ranMs: of those done, heldMs: tokens times ms, limit: -1: none, ready: the most that a count found, up to 1000, nextAgeMs: of the
--           task that comes next the highest, ran, waited: lists of [bucket, tasks], see _duration_bucket; a period without
--           any of it isn't there
-- Raises: TG404 unknown definition; TG422 grain, max out of range
-- Locks:  none
-- Plan:   pk_statistic, a range of it per definition; pk_statistic_time, one per period
-- Once:   a read
-- Twin:   mssql/sql/procedures/ReadStatistics.sql
create or replace function taskgate.read_statistics(
  p_name text, p_grain int, p_max int, out status text, out now_at text, out counted_at text, out periods text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_from timestamptz;
  v_definition int;
begin
  if p_grain is null or p_grain not in (1, 10, 60) then raise exception 'grain: expected 1, 10 or 60 (%)', p_grain using errcode = 'TG422'; end if;
  perform _check_range('max', p_max, 1, case when p_name is null then 12 else 720 end);
  if p_name is not null then v_definition := _find_definition(p_name); end if;
  v_from := date_bin(p_grain * interval '1 minute', v_now, '2000-01-01Z') - (p_max - 1) * p_grain * interval '1 minute';
  status := 'read';
  now_at := _iso(v_now);
  select _iso(r.ended_at) into counted_at from statistic_round r where r.round_id = 1;
  select '[' || string_agg(json_build_object(
           'definition', d.name, 'at', _iso(s.at), 'claimed', s.claimed, 'done', s.done, 'failed', s.failed, 'dead', s.dead, 'lost', s.lost,
           'ranMs', s.ran_ms, 'heldMs', s.held_ms, 'limit', s.task_limit, 'ready', s.ready, 'nextAgeMs', s.next_age_ms,
           'ran', coalesce(t.ran, '[]'), 'waited', coalesce(t.waited, '[]'))::text, ',' order by d.name, s.at) || ']'
    into periods
    from task_definition d
    join statistic s on s.task_definition_id = d.task_definition_id and s.grain = p_grain and s.at >= v_from
   cross join lateral (
     select json_agg(json_build_array(x.bucket, x.tasks) order by x.bucket) filter (where x.measure = 1) as ran,
            json_agg(json_build_array(x.bucket, x.tasks) order by x.bucket) filter (where x.measure = 2) as waited
       from statistic_time x where x.task_definition_id = s.task_definition_id and x.grain = s.grain and x.at = s.at) t
   where v_definition is null or d.task_definition_id = v_definition;
  periods := coalesce(periods, '[]');
end $$;
