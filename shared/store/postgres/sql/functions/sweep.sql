-- taskgate.sweep: one read that lists due work, as the safety net behind the hints. Changes nothing.
-- In:     p_max int 1..1000: definitions with something to do, at most
-- Out:    status: swept; expired: executions past their lease or declared dead (call reclaim_expired), counted up to 1000
--         definitions: JSON array, by name, of those with ready or due tasks, {name, ready (counted up to 1000), free: tokens
--           that may be granted, by the shared limits, too, up to 1000, crowdedOut: others hold all tokens of a shared limit, and no
--           live execution of this definition holds any: a worker that asks is given one, due: tasks wait for promotion, paused}, or null
--         next_due_ms: until the next scheduled task of any definition or the next instant of a schedule, 0 when some are due, or null
--         opening: JSON array of ids of batches to be pumped (pump_batch), at most p_max, or null
--         schedules: JSON array of those that are due (fire_schedule), the longest due first, at most p_max, or null; of {id, definition, name, cron,
--           timeZone, missed, runAt, inMs: 0 or less}, as list_schedules has them
--         purgeable: something may be deleted (call purge); of executions, the ten oldest are looked at, of batches the hundred oldest;
--           groups are looked through to their end an hour after the last time
-- Raises: TG422 max out of range
-- Locks:  none
-- Plan:   per definition at most 1000 ready entries and two scheduled ones, whatever waits; open executions, once more those of a definition
--         that a full shared limit stops; the rows of all schedules
-- Once:   a read
-- Twin:   mssql/sql/procedures/Sweep.sql
create or replace function taskgate.sweep(
  p_max int, out status text, out expired int, out definitions text, out next_due_ms bigint, out opening text, out schedules text,
  out purgeable boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
begin
  perform _check_range('max', p_max, 1, 1000);
  status := 'swept';
  select count(*) into expired from (
    select 1 from task_execution e where e.state in (1, 3) and (e.state = 3 or e.lease_until < v_now) limit 1000) x;
  select '[' || string_agg(json_build_object('name', f.name, 'ready', f.ready, 'free', f.free, 'crowdedOut', f.is_crowded_out, 'due', f.is_due, 'paused', f.paused)::text, ',' order by f.name) || ']'
    into definitions
    from (
      select d.name, d.paused, r.ready, s.is_due, least(o.free, u.free) as free,
             o.free > 0 and coalesce(u.free = 0 and u.least > 0, false) and not exists (
               select 1 from task_execution e
                where e.task_definition_id = d.task_definition_id and e.state = 1 and e.lease_until >= v_now and e.token_count > 0) as is_crowded_out
        from task_definition d
       cross join lateral (
         select case when coalesce(d.concurrency_limit_override, d.concurrency_limit) = -1 then 1000
                     when not _tokens_are_sound(d.execution_tokens) then 0   -- one damaged row must not stop the safety net
                     else greatest(coalesce(d.concurrency_limit_override, d.concurrency_limit) - (
                       select count(*) from _read_tokens(d.execution_tokens) t
                        cross join lateral (
                          select 1 from task_execution e where e.task_execution_id = t.grantee and e.state = 1 and e.lease_until >= v_now offset 0) live   -- offset: a probe each, not all open ones for each definition
                        where t.is_held), 0) end as free offset 0) o
       cross join lateral (
         select min(greatest(x.task_limit - x.live, 0)) as free, min(x.task_limit) as least
           from _shared_use(d.task_definition_id, v_now) x where x.task_limit <> -1) u
       cross join lateral (select count(*)::int as ready from (select 1 from ready x where x.task_definition_id = d.task_definition_id limit 1000) c) r
       cross join lateral (select exists (select 1 from scheduled x where x.task_definition_id = d.task_definition_id and x.run_at <= v_now) as is_due) s
       where r.ready > 0 or s.is_due
       order by d.name limit p_max) f;
  select case when min(n.run_at) is not null then greatest(ceil(extract(epoch from min(n.run_at) - v_now) * 1000), 0)::bigint end into next_due_ms
    from task_definition d
   cross join lateral (select x.run_at from scheduled x where x.task_definition_id = d.task_definition_id order by x.run_at, x.task_id limit 1) n;
  next_due_ms := least(next_due_ms, (                -- of two nulls null, else of the one that there is
    select greatest(ceil(extract(epoch from s.next_run_at - v_now) * 1000), 0)::bigint
      from schedule s where not s.paused and s.next_run_at is not null order by s.next_run_at limit 1));
  opening := _id_list(array(
    select b.batch_id from batch b left join open_wave o on o.batch_id = b.batch_id left join wave w on w.wave_id = o.wave_id
     where b.state in (1, 4) and b.finished_at is null and (o.wave_id is null or w.state = 1)
     order by b.batch_id limit p_max));
  select '[' || string_agg(json_build_object(
           'id', s.schedule_id, 'definition', (select d.name from task_definition d where d.task_definition_id = s.task_definition_id),
           'name', s.name, 'cron', s.cron, 'timeZone', s.time_zone,
           'missed', case s.missed_policy when 1 then 'skip' when 2 then 'once' else 'all' end, 'runAt', _iso(s.next_run_at),
           'inMs', ceil(extract(epoch from s.next_run_at - v_now) * 1000)::bigint)::text, ',' order by s.next_run_at, s.schedule_id) || ']'
    into schedules
    from (select x.* from schedule x where not x.paused and x.next_run_at <= v_now order by x.next_run_at, x.schedule_id limit p_max) s;
  purgeable := exists (select 1 from archive a where a.purge_after < v_now) or exists (select 1 from archive_pack k where k.purge_after < v_now)
    or exists (select 1 from operation o where o.done_at < v_now - interval '1 day')
    or exists (select 1 from dedupe k where k.expires_at < v_now)
    or exists (select 1 from (select e.state, e.ended_at from task_execution e order by e.task_execution_id limit 10) x
                where x.state in (2, 4) and x.ended_at < _purge_executions_before(v_now))
    or exists (select 1 from (select b.finished_at from batch b order by b.batch_id limit 100) x
                where x.finished_at < _purge_executions_before(v_now))
    or exists (select 1 from group_round r
                where (r.last_group_id > 0 or r.ended_at < v_now - interval '1 hour') and exists (select 1 from task_group g where g.group_id > 0));
end $$;
