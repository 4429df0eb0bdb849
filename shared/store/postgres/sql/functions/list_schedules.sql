-- taskgate.list_schedules: schedules with their next instants, by definition as registered, then name.
-- In:     p_name: the definition, or null for all; p_max int 1..1000
-- Out:    status: listed; now_at ISO-8601: the database's clock, from which callers compute next instants; schedules: JSON array of
--           {id, definition, name, kind, cron, timeZone, missed: skip | once | all, paused, runAt: the next instant or null: never, inMs:
--           until then, negative when it is late, lastRunAt: the last instant that was fired, group, payload: JSON text or null}
-- Raises: TG404 unknown definition; TG422 max out of range
-- Locks:  none
-- Plan:   uq_schedule_name in its order; primary keys
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListSchedules.sql
create or replace function taskgate.list_schedules(p_name text, p_max int, out status text, out now_at text, out schedules text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
begin
  perform _check_range('max', p_max, 1, 1000);
  if p_name is not null then v_definition := _find_definition(p_name); end if;
  status := 'listed';
  now_at := _iso(v_now);
  select coalesce('[' || string_agg(json_build_object(
           'id', s.schedule_id, 'definition', (select d.name from task_definition d where d.task_definition_id = s.task_definition_id),
           'name', s.name, 'kind', s.kind, 'cron', s.cron, 'timeZone', s.time_zone,
           'missed', case s.missed_policy when 1 then 'skip' when 2 then 'once' else 'all' end, 'paused', s.paused,
           'runAt', _iso(s.next_run_at), 'inMs', ceil(extract(epoch from s.next_run_at - v_now) * 1000)::bigint,
           'lastRunAt', _iso(s.last_run_at),
           'group', (select g.group_key from schedule_group g where g.schedule_id = s.schedule_id),
           'payload', s.payload)::text, ',' order by s.task_definition_id, s.name) || ']', '[]')
    into schedules
    from (select x.* from schedule x where p_name is null or x.task_definition_id = v_definition
           order by x.task_definition_id, x.name limit p_max) s;
end $$;
