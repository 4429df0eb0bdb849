-- taskgate.register_definition: writes what the code says of a definition; an operator's overrides stay. While a stop of everything is on,
--         a new definition is made paused, as a part of the stop.
-- In:     p_name 1..200 characters without leading or trailing blanks; p_build bigint: an older one changes nothing;
--         p_settings_hash: of all settings below; p_registered_by 1..200 characters: who, for the audit; null: the login
--         p_limit -1 none | 0 nothing starts | 1..1000; p_lease_ms 1000..86400000; p_retry_attempts 1..1000; p_lost_max 0..1000;
--         p_retry_base_ms 0..86400000; p_retry_cap_ms p_retry_base_ms..2147483647; p_prefetch_max 0..1000;
--         p_group_slots 1..1000; p_group_strict; p_retain_done_ms, p_retain_dead_ms 0..3153600000000
--         p_rate_count 1..1000000 tasks per p_rate_period_ms 1000..86400000, p_rate_burst 1..p_rate_count at once; null: no rate
--         p_shared_limits: JSON array of at most 8 {name, limit: -1..1000, null leaves it, 1 at first}, or null: none
--         p_kinds: JSON array of at most 1000 {kind 1..200 characters; groupBy: path of the group's key in the payload, such as customer.id;
--           isGroupComputed: a function in the code has it; priority; runInMs; dedupeBy: a path; dedupeMs}: the rules for a kind's tasks
--           where the caller says nothing. Kinds that aren't named stay as they are; null: all
--         p_keep_payload: false: the payload of a task goes when it is done
-- Out:    status: created | updated | exists | outdated (an older build asked); task_definition_id int
-- Raises: TG422 a value out of range, naming field and value
-- Locks:  advisory 46 (registrations of one name come one after the other), shared_limit (those before and those now), task_definition,
--         rate_bucket: waits for the claim that holds it; task_kind; stop in share mode, of a new definition: a stop that is being set is
--         waited for, and one that comes later finds the definition (set_stop)
-- Plan:   unique name, then primary key
-- Once:   by name and hash: a repeat is `exists`
-- Twin:   mssql/sql/procedures/RegisterDefinition.sql
create or replace function taskgate.register_definition(
  p_name text, p_build bigint, p_settings_hash text, p_registered_by text,
  p_limit int, p_lease_ms int, p_retry_attempts int, p_lost_max int, p_retry_base_ms int, p_retry_cap_ms int,
  p_prefetch_max int, p_group_slots int, p_group_strict boolean, p_retain_done_ms bigint, p_retain_dead_ms bigint,
  p_rate_count int default null, p_rate_period_ms int default null, p_rate_burst int default null, p_shared_limits text default null,
  p_kinds text default null, p_keep_payload boolean default true,
  out status text, out task_definition_id int)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_problem text;
  v_now timestamptz := _now();
  d record;
  c record;
  r record;
  l record;
  w record;
  t record;
begin
  v_problem := case
    when p_name is null or char_length(p_name) not between 1 and 200 or p_name <> btrim(p_name) then 'name: expected 1..200 characters without blanks at either end (' || coalesce(left(p_name, 220), 'null') || ')'
    when p_build is null or p_build < 0 then 'build: expected 0 or more (' || coalesce(p_build::text, 'null') || ')'
    when p_settings_hash is null or char_length(p_settings_hash) not between 1 and 64 then 'settings_hash: expected 1..64 characters (' || coalesce(left(p_settings_hash, 80), 'null') || ')'
    when char_length(p_registered_by) > 200 or btrim(p_registered_by) = '' then 'registered_by: expected 1..200 characters, or null for the login (' || left(p_registered_by, 220) || ')'
    when p_limit is null or p_limit not between -1 and 1000 then 'limit: expected -1..1000 (' || coalesce(p_limit::text, 'null') || ')'
    when p_lease_ms is null or p_lease_ms not between 1000 and 86400000 then 'lease_ms: expected 1000..86400000 (' || coalesce(p_lease_ms::text, 'null') || ')'
    when p_retry_attempts is null or p_retry_attempts not between 1 and 1000 then 'retry_attempts: expected 1..1000 (' || coalesce(p_retry_attempts::text, 'null') || ')'
    when p_lost_max is null or p_lost_max not between 0 and 1000 then 'lost_max: expected 0..1000 (' || coalesce(p_lost_max::text, 'null') || ')'
    when p_retry_base_ms is null or p_retry_base_ms not between 0 and 86400000 then 'retry_base_ms: expected 0..86400000 (' || coalesce(p_retry_base_ms::text, 'null') || ')'
    when p_retry_cap_ms is null or p_retry_cap_ms < p_retry_base_ms then 'retry_cap_ms: expected retry_base_ms or more (' || coalesce(p_retry_cap_ms::text, 'null') || ')'
    when p_prefetch_max is null or p_prefetch_max not between 0 and 1000 then 'prefetch_max: expected 0..1000 (' || coalesce(p_prefetch_max::text, 'null') || ')'
    when p_group_slots is null or p_group_slots not between 1 and 1000 then 'group_slots: expected 1..1000 (' || coalesce(p_group_slots::text, 'null') || ')'
    when p_group_strict is null then 'group_strict: expected true or false (null)'
    when p_keep_payload is null then 'keep_payload: expected true or false (null)'
    when p_retain_done_ms is null or p_retain_done_ms not between 0 and 3153600000000 then 'retain_done_ms: expected 0..3153600000000 (' || coalesce(p_retain_done_ms::text, 'null') || ')'
    when p_retain_dead_ms is null or p_retain_dead_ms not between 0 and 3153600000000 then 'retain_dead_ms: expected 0..3153600000000 (' || coalesce(p_retain_dead_ms::text, 'null') || ')'
    when (p_rate_count is not null or p_rate_period_ms is not null or p_rate_burst is not null)
      and _rate_problem(p_rate_count, p_rate_period_ms, p_rate_burst) is not null then _rate_problem(p_rate_count, p_rate_period_ms, p_rate_burst)
    else coalesce(_shared_problem(p_shared_limits), _kinds_problem(p_kinds))
  end;
  if v_problem is not null then raise exception '%', v_problem using errcode = 'TG422'; end if;
  p_registered_by := _check_actor(p_registered_by, null);

  select x.task_definition_id, x.build, x.settings_hash into c from task_definition x where x.name = p_name;
  task_definition_id := c.task_definition_id;
  if c.build > p_build then status := 'outdated'; return; end if;
  if c.settings_hash = p_settings_hash and c.build = p_build then status := 'exists'; return; end if;
  -- The same shared limits under every lock below: only registrations change them. Their rows come before the definition's.
  perform pg_advisory_xact_lock(46, hashtext(p_name));
  perform _lock_shared(_shared_ids(x.task_definition_id) || _make_shared(array(select j.value ->> 'name' from json_array_elements(p_shared_limits::json) j(value))))
     from (select (select y.task_definition_id from task_definition y where y.name = p_name) as task_definition_id) x;
  insert into task_definition as x (name, concurrency_limit, created_at) values (p_name, 0, v_now)
  on conflict (name) do nothing returning x.task_definition_id into register_definition.task_definition_id;
  if found then
    status := 'created';
    insert into token_demand (task_definition_id, denied_at) values (register_definition.task_definition_id, '2000-01-01 00:00:00+00');
    insert into token_gift (task_definition_id, given_at) values (register_definition.task_definition_id, '2000-01-01 00:00:00+00');
  else
    select x.task_definition_id, x.build, x.settings_hash into c from task_definition x where x.name = p_name;
    task_definition_id := c.task_definition_id;
    if c.build > p_build then status := 'outdated'; return; end if;
    if c.settings_hash = p_settings_hash and c.build = p_build then status := 'exists'; return; end if;
    status := 'updated';
  end if;

  perform pg_advisory_xact_lock(42, register_definition.task_definition_id);
  select x.* into d from task_definition x where x.task_definition_id = register_definition.task_definition_id for no key update;
  if d.build > p_build then status := 'outdated'; return; end if;
  select * into c from _change_limit(d.task_definition_id, p_limit, d.concurrency_limit_override);
  select * into r from _change_rate(d.task_definition_id, false, p_rate_count, p_rate_period_ms, p_rate_burst);
  select * into l from _change_shared_links(d.task_definition_id, p_shared_limits, p_registered_by);
  select * into w from _write_kinds(d.task_definition_id, p_kinds);
  update task_definition x
     set lease_ms = p_lease_ms, retry_attempts = p_retry_attempts, lost_max = p_lost_max, retry_base_ms = p_retry_base_ms,
         retry_cap_ms = p_retry_cap_ms, prefetch_max = p_prefetch_max, group_slots = p_group_slots, group_strict = p_group_strict,
         retain_done_ms = p_retain_done_ms, retain_dead_ms = p_retain_dead_ms, keep_payload = p_keep_payload, build = p_build, settings_hash = p_settings_hash
   where x.task_definition_id = d.task_definition_id;
  if status = 'created' then
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, changed_at)
    values (d.task_definition_id, 'limit', null, p_limit::text, 'code', p_registered_by, v_now);
    select s.stopped_at, s.stopped_by, s.reason into t from stop s where s.stop_id = 1 for share;   -- the last lock; kept to the end
    if t.stopped_at is not null then
      update task_definition x set paused = true where x.task_definition_id = d.task_definition_id;
      insert into stopped_definition (task_definition_id, stopped_at, stopped_by, reason) values (d.task_definition_id, v_now, t.stopped_by, t.reason);
      insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
      values (d.task_definition_id, 'paused', 'false', 'true', 'operator', t.stopped_by, t.reason, v_now);
    end if;
  else
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, changed_at)
    select d.task_definition_id, v.setting, v.old_value, v.new_value, 'code', p_registered_by, v_now
      from (values ('limit', d.concurrency_limit::text, p_limit::text), ('lease_ms', d.lease_ms::text, p_lease_ms::text),
                   ('retry_attempts', d.retry_attempts::text, p_retry_attempts::text), ('lost_max', d.lost_max::text, p_lost_max::text),
                   ('retry_base_ms', d.retry_base_ms::text, p_retry_base_ms::text), ('retry_cap_ms', d.retry_cap_ms::text, p_retry_cap_ms::text),
                   ('prefetch_max', d.prefetch_max::text, p_prefetch_max::text), ('group_slots', d.group_slots::text, p_group_slots::text),
                   ('group_strict', d.group_strict::text, p_group_strict::text), ('retain_done_ms', d.retain_done_ms::text, p_retain_done_ms::text),
                   ('retain_dead_ms', d.retain_dead_ms::text, p_retain_dead_ms::text), ('keep_payload', d.keep_payload::text, p_keep_payload::text), ('rate', coalesce(r.o_old, 'none'), coalesce(r.o_new, 'none')), ('shared_limits', left(coalesce(l.o_old, 'none'), 400), left(coalesce(l.o_new, 'none'), 400)),
                   ('kinds', coalesce(w.o_old, 'none'), coalesce(w.o_new, 'none')),
                   ('build', d.build::text, p_build::text)) as v(setting, old_value, new_value)
     where v.old_value <> v.new_value;
  end if;
end $$;
