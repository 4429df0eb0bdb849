-- taskgate.set_schedules: writes what the code says of a definition's schedules, all of them: those that aren't named are removed.
--         An operator's pauses stay. When an instant comes is computed by the caller, the same way for both dialects. While a stop of
--         everything is on, a new schedule is made paused, as a part of the stop.
-- In:     p_name: the definition; p_build bigint: of the code; an older one than the definition's changes nothing
--         p_schedules text: JSON array of 0..100, at most 8 MiB, of {name 1..200 characters, each once; kind 1..200 characters; cron
--           1..200 characters; timeZone 1..100 characters; missed: skip | once | all; payload: text of a JSON object without blanks
--           around it and without scheduledFor, which each instant adds, at most 65472 bytes, or null; group 1..200 characters or null;
--           nextRunAt ISO-8601: the first instant after list_schedules' now_at, or null: never}
--         p_changed_by (null: the login) for the audit
-- Out:    status: set | exists (nothing was to be done) | outdated (an older build asked); changed: how many were created, changed or
--           removed; next_due_ms bigint: until the definition's next instant, 0 when one is due, or null
-- Raises: TG404 unknown definition; TG413 too many or too large; TG422 a bad value, naming entry and field
-- Locks:  task_definition, schedule ascending, rows of these in stopped_schedule, new rows; stop in share mode, for new schedules: a stop that is being set is waited for,
--         and one that comes later finds the schedule (set_stop)
-- Plan:   unique names, primary keys
-- Once:   by value
-- Twin:   mssql/sql/procedures/SetSchedules.sql
create or replace function taskgate.set_schedules(
  p_name text, p_build bigint, p_schedules text, p_changed_by text, out status text, out changed int, out next_due_ms bigint)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  v_build bigint;
  v_problem text;
  v_old int[];
  v_kept int[];
  v_id int;
  w record;
  o record;
  v_stopped_at timestamptz;                          -- null: no stop is on
  v_stopped_by text;
  v_stop_reason text;
begin
  p_changed_by := _check_actor(p_changed_by, null);
  changed := 0;
  if octet_length(p_schedules) > 8388608 then
    raise exception 'schedules: expected at most 8388608 bytes (%)', octet_length(p_schedules) using errcode = 'TG413';
  end if;
  if not _is_json_list(p_schedules)
    or exists (select 1 from json_array_elements(p_schedules::json) e where json_typeof(e) <> 'object') then
    raise exception 'schedules: expected a JSON array of objects (%)', left(p_schedules, 100) using errcode = 'TG422';
  end if;
  if json_array_length(p_schedules::json) > 100 then
    raise exception 'schedules: expected 0..100 entries (%)', json_array_length(p_schedules::json) using errcode = 'TG413';
  end if;
  select 'schedules[' || x.n - 1 || '].' || x.problem into v_problem
    from (
      select r.n,
             case
               when r.name is null or char_length(r.name) not between 1 and 200 or r.name <> btrim(r.name)
                 then 'name: expected 1..200 characters without blanks at either end (' || coalesce(left(r.name, 220), '<NULL>') || ')'
               when r.kind is null or char_length(r.kind) not between 1 and 200 or r.kind <> btrim(r.kind)
                 then 'kind: expected 1..200 characters without blanks at either end (' || coalesce(left(r.kind, 220), '<NULL>') || ')'
               when r.cron is null or char_length(r.cron) not between 1 and 200
                 then 'cron: expected 1..200 characters (' || coalesce(left(r.cron, 220), '<NULL>') || ')'
               when r."timeZone" is null or char_length(r."timeZone") not between 1 and 100
                 then 'timeZone: expected 1..100 characters (' || coalesce(left(r."timeZone", 120), '<NULL>') || ')'
               when r.missed is null or r.missed not in ('skip', 'once', 'all')
                 then 'missed: expected skip, once or all (' || coalesce(left(r.missed, 100), '<NULL>') || ')'
               when left(r.payload, 1) <> '{' or right(r.payload, 1) <> '}' or (r.payload is not null and not _is_json(r.payload))
                 then 'payload: expected the text of a JSON object (' || left(r.payload, 100) || ')'
               when exists (select 1 from json_object_keys(r.payload::json) m(name) where m.name = 'scheduledFor')
                 then 'payload: expected an object without scheduledFor, which each instant adds (' || left(r.payload, 100) || ')'
               when octet_length(r.payload) > 65472 then 'payload: expected at most 65472 bytes (' || octet_length(r.payload) || ')'
               when char_length(r."group") not between 1 and 200 or r."group" <> btrim(r."group")
                 then 'group: expected 1..200 characters without blanks at either end (' || left(r."group", 220) || ')'
               when r."nextRunAt" is not null and _instant(r."nextRunAt") is null
                 then 'nextRunAt: expected an ISO-8601 instant with its zone (' || left(r."nextRunAt", 100) || ')'
             end as problem
        from rows from (json_to_recordset(p_schedules::json) as (name text, kind text, cron text, "timeZone" text, missed text, payload text, "group" text, "nextRunAt" text))
             with ordinality as r(name, kind, cron, "timeZone", missed, payload, "group", "nextRunAt", n)) x
   where x.problem is not null order by x.n limit 1;
  if v_problem is null then
    select 'schedules[' || x.n - 1 || '].name: expected each name once (' || x.name || ')' into v_problem
      from (select e.value ->> 'name' as name, e.n, row_number() over (partition by e.value ->> 'name' order by e.n) as k
              from json_array_elements(p_schedules::json) with ordinality e(value, n)) x
     where x.k > 1 order by x.n limit 1;
  end if;
  if v_problem is not null then raise exception '%', v_problem using errcode = 'TG422'; end if;
  v_definition := _find_definition(p_name);

  perform pg_advisory_xact_lock(42, v_definition);
  select x.build into v_build from task_definition x where x.task_definition_id = v_definition for no key update;
  if p_build is null or v_build > p_build then
    status := 'outdated';
    return;
  end if;
  -- 1. The schedules that exist: no other call adds or removes one now. Lock, then look: behind who fires or pauses them.
  v_old := array(select s.schedule_id from schedule s where s.task_definition_id = v_definition order by s.schedule_id for update);
  v_kept := '{}';
  -- 2. The schedules as they shall be.
  for w in
    select r.name, r.kind, r.cron, r."timeZone" as time_zone, case r.missed when 'skip' then 1 when 'once' then 2 else 3 end as missed,
           r.payload, r."group" as group_key, _instant(r."nextRunAt") as next_run_at
      from rows from (json_to_recordset(p_schedules::json) as (name text, kind text, cron text, "timeZone" text, missed text, payload text, "group" text, "nextRunAt" text))
           with ordinality as r(name, kind, cron, "timeZone", missed, payload, "group", "nextRunAt", n) order by r.n
  loop
    select s.schedule_id, s.cron || ' ' || s.time_zone || ' of ' || s.name as label,
           (s.kind, s.cron, s.time_zone, s.missed_policy, coalesce(s.payload, ''), coalesce(g.group_key, ''))
             = (w.kind, w.cron, w.time_zone, w.missed, coalesce(w.payload, ''), coalesce(w.group_key, '')) as is_same
      into o
      from schedule s left join schedule_group g on g.schedule_id = s.schedule_id
     where s.task_definition_id = v_definition and s.name = w.name;
    v_id := o.schedule_id;
    if v_id is null then
      select x.stopped_at, x.stopped_by, x.reason into v_stopped_at, v_stopped_by, v_stop_reason from stop x where x.stop_id = 1 for share;   -- the last lock; kept to the end
      insert into schedule (task_definition_id, name, kind, cron, time_zone, missed_policy, next_run_at, payload, paused)
      values (v_definition, w.name, w.kind, w.cron, w.time_zone, w.missed, w.next_run_at, w.payload, v_stopped_at is not null)
      returning schedule_id into v_id;
      if v_stopped_at is not null then
        insert into stopped_schedule (schedule_id, stopped_at, stopped_by, reason) values (v_id, v_now, v_stopped_by, v_stop_reason);
      end if;
    elsif not o.is_same then
      update schedule s
         set kind = w.kind, cron = w.cron, time_zone = w.time_zone, missed_policy = w.missed, payload = w.payload,
             next_run_at = case when (s.cron, s.time_zone) = (w.cron, w.time_zone) then s.next_run_at else w.next_run_at end
       where s.schedule_id = v_id;
      delete from schedule_group g where g.schedule_id = v_id;
    end if;
    v_kept := v_kept || v_id;
    continue when o.is_same;
    insert into schedule_group (schedule_id, group_key) select v_id, w.group_key where w.group_key is not null;
    changed := changed + 1;
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, changed_at)
    values (v_definition, 'schedule', left(o.label, 400), left(w.cron || ' ' || w.time_zone || ' of ' || w.name, 400), 'code', p_changed_by, v_now);
    if o.label is null and v_stopped_at is not null then
      insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
      values (v_definition, 'schedule_paused', 'false of ' || w.name, 'true of ' || w.name, 'operator', v_stopped_by, v_stop_reason, v_now);
    end if;
  end loop;
  for o in
    select s.schedule_id, s.name, s.cron, s.time_zone from schedule s
     where s.schedule_id = any (v_old) and s.schedule_id <> all (v_kept) order by s.name
  loop
    delete from schedule_group g where g.schedule_id = o.schedule_id;
    delete from stopped_schedule x where x.schedule_id = o.schedule_id;
    delete from schedule s where s.schedule_id = o.schedule_id;
    changed := changed + 1;
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, changed_at)
    values (v_definition, 'schedule', left(o.cron || ' ' || o.time_zone || ' of ' || o.name, 400), null, 'code', p_changed_by, v_now);
  end loop;
  status := case changed when 0 then 'exists' else 'set' end;
  next_due_ms := (select greatest(ceil(extract(epoch from s.next_run_at - v_now) * 1000), 0)::bigint
                    from schedule s where s.schedule_id = any (v_kept) and not s.paused and s.next_run_at is not null
                   order by s.next_run_at limit 1);
end $$;
