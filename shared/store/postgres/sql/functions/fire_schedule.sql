-- taskgate.fire_schedule: enqueues the tasks of a schedule's due instants and moves it on to the next one, in one transaction: exactly one
--         task per instant, for any number of callers.
-- In:     p_schedule_id int; p_expected_run_at ISO-8601: the next instant as the caller saw it; p_run_ats: JSON array of 0..100 due instants
--           to enqueue a task for, as the caller's policy for missed ones has it; p_next_run_at ISO-8601: the first one after those, or
--           null: never
-- Out:    status: fired | stale (it has been fired, changed or removed since, or another call fires it now) | early (not due by the
--           database's clock) | paused; task_ids: JSON array of strings, in order of the instants; next_due_ms bigint: until the next
--           instant, 0 when that is due, too, or null
--         What the code says of the kind holds for each task: its group by the payload, where the schedule has no group, its priority and delay.
--         Each task has the schedule's payload with the member scheduledFor, its instant as ISO-8601 UTC, at the end
-- Raises: TG422 a bad value, or a payload that has no key where the kind's group is taken from
-- Locks:  schedule by skip, new rows
-- Plan:   primary keys
-- Once:   by schedule and instant: a repeat is stale
-- Twin:   mssql/sql/procedures/FireSchedule.sql
create or replace function taskgate.fire_schedule(
  p_schedule_id int, p_expected_run_at text, p_run_ats text, p_next_run_at text, out status text, out task_ids text, out next_due_ms bigint)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_expected timestamptz := _instant(p_expected_run_at);
  v_next timestamptz := _instant(p_next_run_at);
  v_run_ats timestamptz[];
  v_bad text;
  v_open text;
  v_payloads text[];
  v_ids bigint[];
  s record;
begin
  task_ids := '[]';
  if v_expected is null then
    raise exception 'expected_run_at: expected an ISO-8601 instant with its zone (%)', coalesce(left(p_expected_run_at, 100), '<NULL>') using errcode = 'TG422';
  end if;
  if not _is_json_list(p_run_ats) or json_array_length(p_run_ats::json) > 100 then
    raise exception 'run_ats: expected a JSON array of 0..100 instants' using errcode = 'TG422';
  end if;
  v_run_ats := array(select _instant(e.value) from json_array_elements_text(p_run_ats::json) with ordinality e(value, n) order by e.n);
  v_bad := (select coalesce(left(e.value, 100), '<NULL>') from json_array_elements_text(p_run_ats::json) with ordinality e(value, n)
             where v_run_ats[e.n] is null or v_run_ats[e.n] < v_expected or v_run_ats[e.n] > v_now or v_run_ats[e.n] <= v_run_ats[e.n - 1]
             order by e.n limit 1);
  if p_next_run_at is not null and (v_next is null or v_next <= v_expected or v_next <= (select max(u.at) from unnest(v_run_ats) u(at))) then
    raise exception 'next_run_at: expected an ISO-8601 instant with its zone after the others (%)', left(p_next_run_at, 100) using errcode = 'TG422';
  end if;

  -- A second caller isn't needed.
  select x.next_run_at, x.paused, x.kind, x.payload, x.task_definition_id into s
    from schedule x where x.schedule_id = p_schedule_id for update skip locked;
  status := case when not found or s.next_run_at is distinct from v_expected then 'stale' when v_expected > v_now then 'early'
                 when v_bad is null and s.paused then 'paused' else 'fired' end;
  if status = 'fired' then
    if v_bad is not null then
      raise exception 'run_ats: expected instants from expected_run_at to now, ascending (%)', v_bad using errcode = 'TG422';
    end if;
    v_open := case when s.payload is null then '{'
                   else left(s.payload, -1) || case when exists (select 1 from json_object_keys(s.payload::json)) then ',' else '' end end;
    update schedule x set next_run_at = v_next, last_run_at = coalesce((select max(u.at) from unnest(v_run_ats) u(at)), x.last_run_at)
     where x.schedule_id = p_schedule_id;
    v_payloads := array(select v_open || '"scheduledFor":"' || _iso(u.at) || '"}' from unnest(v_run_ats) with ordinality u(at, n) order by u.n);
    v_bad := (select p.problem from unnest(v_payloads) u(payload) join task_kind k on k.task_definition_id = s.task_definition_id and k.kind = s.kind
               cross join lateral (select _payload_key(u.payload, k.group_by) as problem offset 0) p where p.problem like '!%' limit 1);
    if v_bad is not null then raise exception '%', substr(v_bad, 2) using errcode = 'TG422'; end if;
    v_ids := array(select nextval('task_sequence') from generate_series(1, cardinality(v_run_ats)));
    -- No group is waited for: promotion lets the task into it, as after a user's own transaction.
    with new as materialized (
      select u.id, u.at, u.payload, coalesce(g.group_key, substr(_payload_key(u.payload, k.group_by), 2)) as group_key, coalesce(k.priority, 100) as priority,
             coalesce(k.run_in_ms, 0) as run_in_ms
        from unnest(v_ids, v_run_ats, v_payloads) u(id, at, payload)
        left join schedule_group g on g.schedule_id = p_schedule_id
        left join task_kind k on k.task_definition_id = s.task_definition_id and k.kind = s.kind),
    added as (
      insert into task (task_id, task_definition_id, kind, priority, created_at, due_at, pending_group_key, pending_group_is_global, build, payload)
      select n.id, s.task_definition_id, s.kind, n.priority, v_now, case when n.run_in_ms > 0 then v_now + n.run_in_ms * interval '1 ms' end, n.group_key, case when n.group_key is not null then false end,
             (select d.build from task_definition d where d.task_definition_id = s.task_definition_id),
             n.payload from new n),
    later as (
      insert into scheduled (task_definition_id, run_at, task_id)
      select s.task_definition_id, v_now + n.run_in_ms * interval '1 ms', n.id from new n where n.group_key is not null or n.run_in_ms > 0)
    insert into ready (task_definition_id, priority, rank, task_id)
    select s.task_definition_id, n.priority, 0, n.id from new n where n.group_key is null and n.run_in_ms = 0;
    task_ids := coalesce(_id_list(v_ids), '[]');
    s.next_run_at := v_next;
  end if;
  if status <> 'paused' and s.next_run_at is not null then
    next_due_ms := greatest(ceil(extract(epoch from s.next_run_at - v_now) * 1000), 0)::bigint;
  end if;
end $$;
