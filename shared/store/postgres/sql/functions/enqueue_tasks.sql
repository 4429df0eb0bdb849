-- taskgate.enqueue_tasks: adds tasks. Joins the caller's transaction: they exist when it commits, or not at all.
-- In:     p_name: the definition; p_build bigint: of the enqueuing code, 0 or null: unknown
--         p_tasks text: JSON array of 1..10000, at most 8 MiB, of {payload: JSON text of an object or array, at most 65536 bytes, or null;
--           kind 1..200 characters, default the definition's name; priority -32768..32767, lower first, default 100;
--           group 1..200 characters, groupScope: definition (default) | global; runInMs 0..3153600000000 or runAt ISO-8601 with its zone;
--           dedupeKey 1..200 characters, dedupeMs: the key is held that long, default until the task ends; onDuplicate: keep (default) |
--           replace: a task of the same kind that hasn't been started gets this payload; trace: W3C traceparent}.
--           What an entry doesn't say, the code of its kind may: group and dedupeKey by a path into the payload, priority, runInMs. A kind
--           whose group is a function needs `group`: a key, or null for none
--         p_operation_id uuid: a repeat with it answers the first call's ids; null: only dedupe keys protect
--         p_joins_transaction: true when other work of the caller may follow before its commit: then grouped tasks enter
--           scheduled as due now, so that no group stays locked for as long as the caller likes
--         p_wave_id bigint: they are blocked until this wave of a batch opens, or null; runInMs and runAt are refused then
--         p_changed_by: the operator, for the audit; null: the app itself, which leaves no entry there; p_reason: why, for that entry
--         p_is_checked: true: the caller wrote no member that isn't named above, as the package does; else one is looked for, and refused
--         p_payloads text: JSON array of 1..10000 payloads, objects or arrays as they are, within the 8 MiB: a task each, with what the one entry of p_tasks, without a payload,
--           says of all; null: p_tasks says all
-- Out:    status: enqueued | sealed | late (the wave takes no tasks, as it is sealed, or any more: nothing was written); task_ids: JSON array of strings in input order (of a duplicate: the first task's);
--         outcomes: JSON array of enqueued | duplicate | replaced in input order, or null when all are enqueued
--         ready: some may be claimed at once; next_due_ms: the earliest scheduled of them, or null
-- Raises: TG404 unknown definition or wave; TG413 too many or too large; TG422 a bad value, naming entry and field; TG424 `group` or `dedupeKey` is missing, or
--         another than the payload's, against the code of the kind; TG490 another isolation
--         level than read committed; TG409 the operation id was used by another operation, or for another definition
-- Locks:  operation (a repeat of itself), the wave's gate shared (who opens it skips it), dedupe in key order (other enqueues of an equal key); advisory 43 ascending (other enqueues
--         that make a group), task_group ascending, new rows; then as _replace_payloads, _audit_call
-- Plan:   primary keys and unique names
-- Once:   by operation id, and by dedupe key
-- Twin:   mssql/sql/procedures/EnqueueTasks.sql
create or replace function taskgate.enqueue_tasks(
  p_name text, p_build bigint, p_tasks text, p_operation_id uuid default null, p_joins_transaction boolean default true,
  p_wave_id bigint default null, p_changed_by text default null, p_reason text default null, p_is_checked boolean default false,
  p_payloads text default null,
  out status text, out task_ids text, out outcomes text, out ready boolean, out next_due_ms bigint)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  d record;
  v_tasks json;                                      -- p_tasks, read as JSON once
  v_answer json;
  v_unknown text;
  v record;
  said record;
  v_ids bigint[];                                    -- per entry; of a duplicate: the first task's
  v_is_new boolean[];
  v_first int[];
  v_replaced bigint[] := '{}';
begin
  status := 'enqueued';
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'transaction: expected isolation level read committed (%)', current_setting('transaction_isolation') using errcode = 'TG490';
  end if;
  if octet_length(p_tasks) + coalesce(octet_length(p_payloads), 0) > 8388608 then
    raise exception 'tasks: expected at most 8388608 bytes (%)', octet_length(p_tasks) + coalesce(octet_length(p_payloads), 0) using errcode = 'TG413';
  end if;
  if p_changed_by is not null or p_reason is not null then perform _check_actor(p_changed_by, p_reason); end if;
  p_build := coalesce(p_build, 0);
  begin
    v_tasks := p_tasks::json;
  exception when data_exception or statement_too_complex then   -- the latter: nested too deep
    v_tasks := null;
  end;
  if v_tasks is null or json_typeof(v_tasks) <> 'array' then
    raise exception 'tasks: expected a JSON array (%)', left(p_tasks, 100) using errcode = 'TG422';
  end if;
  if p_payloads is null and json_array_length(v_tasks) not between 1 and 10000 then
    raise exception 'tasks: expected 1..10000 entries (%)', json_array_length(v_tasks) using errcode = 'TG413';
  end if;
  select x.task_definition_id, x.group_slots, x.group_strict, exists (select 1 from task_kind k where k.task_definition_id = x.task_definition_id) as has_kinds
    into d from task_definition x where x.name = p_name;
  if not found and p_payloads is not null then perform _entry_per_payload(v_tasks, p_payloads); end if;
  if d.task_definition_id is null then raise exception 'name: unknown definition (%)', p_name using errcode = 'TG404'; end if;
  if not p_is_checked then                           -- a fifth of the time of a large call
    begin
      select 'tasks[' || e.n - 1 || ']: expected no members but payload, kind, priority, group, groupScope, runInMs, runAt, dedupeKey, dedupeMs, onDuplicate and trace (' || left(m.name, 100) || ')'
        into v_unknown
        from json_array_elements(v_tasks) with ordinality e(value, n)
       cross join lateral json_object_keys(case json_typeof(e.value) when 'object' then e.value else '{}' end) m(name)
       where m.name not in ('payload', 'kind', 'priority', 'group', 'groupScope', 'runInMs', 'runAt', 'dedupeKey', 'dedupeMs', 'onDuplicate', 'trace')
       order by e.n, m.name collate "C" limit 1;
    exception when data_exception or statement_too_complex then null;   -- what can't be read is told below
    end;
    if v_unknown is not null then raise exception '%', v_unknown using errcode = 'TG422'; end if;
  end if;
  if p_wave_id is null and p_changed_by is null and not d.has_kinds then
    task_ids := _enqueue_plain(d.task_definition_id, p_name, p_build, v_tasks, p_payloads, p_operation_id, v_now);
    if task_ids is not null then
      ready := true;
      return;
    end if;
  end if;
  if p_payloads is not null then
    p_tasks := _entry_per_payload(v_tasks, p_payloads);
    v_tasks := p_tasks::json;
  end if;
  if p_operation_id is not null then
    insert into operation (operation_id, name, done_at) values (p_operation_id, 'enqueue_tasks', v_now) on conflict do nothing;
    if not found then
      v_answer := _first_answer(p_operation_id, 'enqueue_tasks', d.task_definition_id::text);
      task_ids := v_answer ->> 'taskIds'; outcomes := v_answer ->> 'outcomes'; ready := v_answer ->> 'ready'; next_due_ms := v_answer ->> 'nextDueMs';
      return;
    end if;
  end if;

  if p_wave_id is not null and not _enter_wave(p_wave_id) then
    delete from operation o where o.operation_id = p_operation_id;
    select case when w.state = 0 and w.is_sealed then 'sealed' else 'late' end into status from wave w where w.wave_id = p_wave_id;
    task_ids := '[]'; ready := false;
    return;
  end if;

  -- 1. The entries as arrays, with the first problem found. One that can't even be read is looked for only then.
  begin
  select array_agg(x.payload order by x.n) as payloads, array_agg(x.kind order by x.n) as kinds, array_agg(x.priority order by x.n) as priorities,
         array_agg(x.group_key order by x.n) as group_keys, array_agg(x.is_global order by x.n) as globals, array_agg(x.run_at order by x.n) as run_ats,
         array_agg(x.dedupe_key order by x.n) as dedupe_keys, array_agg(x.dedupe_ms order by x.n) as dedupe_ms, array_agg(x.trace order by x.n) as traces, array_agg(x.is_replacing order by x.n) as replacing,
         bool_or(x.group_key is not null) as has_groups, bool_or(x.dedupe_key is not null) as has_keys, bool_or(x.is_unreadable) as is_unreadable, bool_or(x.looks_nested) as looks_nested,
         (array_agg('tasks[' || x.n - 1 || '].' || x.problem order by x.n) filter (where x.problem is not null))[1] as problem
    into v
    from (
      select r.n, r.payload, coalesce(r.kind, p_name) as kind, coalesce(r.priority, 100) as priority, r."group" as group_key, r."groupScope" = 'global' as is_global,
             case when r."runInMs" not between 0 and 3153600000000 then null
                  when coalesce(i.at, v_now + r."runInMs" * interval '1 ms') > v_now then coalesce(i.at, v_now + r."runInMs" * interval '1 ms') end as run_at,
             r."runAt" is not null and i.at is null as is_unreadable,
             left(r.kind, 1) in ('{', '[') or left(r."group", 1) in ('{', '[') or left(r."dedupeKey", 1) in ('{', '[') or left(r.trace, 1) in ('{', '[') as looks_nested,
             r."dedupeKey" as dedupe_key, r."dedupeMs" as dedupe_ms, r.trace, coalesce(r."onDuplicate" = 'replace', false) as is_replacing,
             case
               when r.payload is not null and octet_length(r.payload) > 65536 then 'payload: expected at most 65536 bytes (' || octet_length(r.payload) || ')'
               when r.payload is not null and json_typeof(r.payload::json) not in ('object', 'array') then 'payload: expected the text of a JSON object or array (' || left(r.payload, 100) || ')'
               when r.kind is not null and (char_length(r.kind) not between 1 and 200 or r.kind <> btrim(r.kind)) then 'kind: expected 1..200 characters without blanks at either end (' || left(r.kind, 220) || ')'
               when r.priority not between -32768 and 32767 then 'priority: expected -32768..32767 (' || r.priority || ')'
               when char_length(r."group") not between 1 and 200 or r."group" <> btrim(r."group") then 'group: expected 1..200 characters without blanks at either end (' || left(r."group", 220) || ')'
               when r."groupScope" not in ('definition', 'global') then 'groupScope: expected definition or global (' || left(r."groupScope", 220) || ')'
               when r."runInMs" not between 0 and 3153600000000 then 'runInMs: expected 0..3153600000000 (' || r."runInMs" || ')'
               when r."runInMs" is not null and r."runAt" is not null then 'runAt: expected either runAt or runInMs, not both'
               when char_length(r."dedupeKey") not between 1 and 200 or r."dedupeKey" <> btrim(r."dedupeKey") then 'dedupeKey: expected 1..200 characters without blanks at either end (' || left(r."dedupeKey", 220) || ')'
               when r."dedupeMs" not between 1 and 3153600000000 then 'dedupeMs: expected 1..3153600000000 (' || r."dedupeMs" || ')'
               when r."onDuplicate" not in ('keep', 'replace') then 'onDuplicate: expected keep or replace (' || left(r."onDuplicate", 220) || ')'
               when p_wave_id is not null and (r."runInMs" is not null or r."runAt" is not null) then 'runAt: expected none for a task of a wave'
               when not (r.trace like '__-________________________________-________________-__' and char_length(translate(r.trace, '0123456789abcdef', '')) = 3) then 'trace: expected a W3C traceparent (' || left(r.trace, 100) || ')'
             end as problem
        from rows from (json_to_recordset(v_tasks) as (payload text, kind text, priority int, "group" text, "groupScope" text, "runInMs" bigint, "runAt" text, "dedupeKey" text, "dedupeMs" bigint, trace text, "onDuplicate" text))
             with ordinality as r(payload, kind, priority, "group", "groupScope", "runInMs", "runAt", "dedupeKey", "dedupeMs", trace, "onDuplicate", n)
       cross join lateral (select _instant(r."runAt") as at offset 0) i) x;   -- offset: read once, though named three times
  if v.is_unreadable or v.looks_nested and exists (   -- an object was read as its text; a text may begin so, too
      select 1 from json_array_elements(v_tasks) j(value) cross join lateral json_each(j.value) f
       where f.key in ('kind', 'group', 'dedupeKey', 'trace') and json_typeof(f.value) in ('object', 'array')) then
    raise data_exception;
  end if;
  exception when data_exception or statement_too_complex then
    raise exception '%', _find_bad_entry(p_tasks) using errcode = 'TG422';
  end;
  if v.problem is not null then
    raise exception '%', v.problem using errcode = case when v.problem like '%: expected at most 65536 bytes%' then 'TG413' else 'TG422' end;
  end if;
  if d.has_kinds then
    select x.* into said from _apply_kinds(d.task_definition_id, p_build, p_tasks, p_wave_id is not null, v_now, v.kinds, v.payloads, v.priorities, v.group_keys, v.run_ats, v.dedupe_keys, v.dedupe_ms) x;
    v.priorities := said.o_priorities; v.group_keys := said.o_group_keys; v.run_ats := said.o_run_ats; v.dedupe_keys := said.o_dedupe_keys; v.dedupe_ms := said.o_dedupe_ms;
    v.has_groups := exists (select 1 from unnest(v.group_keys) u(key) where u.key is not null);
    v.has_keys := exists (select 1 from unnest(v.dedupe_keys) u(key) where u.key is not null);
  end if;
  v_ids := array(select nextval('task_sequence') from generate_series(1, cardinality(v.kinds)));

  -- 2. Keys: what can't be taken is a duplicate.
  if v.has_keys then
    select x.o_ids, x.o_is_new into v_ids, v_is_new from _take_keys(d.task_definition_id, v_ids, v.dedupe_keys, v.dedupe_ms, v_now) x;
  end if;

  -- 3. The tasks, and each into its container.
  if p_wave_id is not null then
    with new as materialized (
      select u.* from unnest(v_ids, v.payloads, v.kinds, v.priorities, v.group_keys, v.globals, v.dedupe_keys, v.traces, coalesce(v_is_new, array_fill(true, array[cardinality(v_ids)])))
                      as u(id, payload, kind, priority, group_key, is_global, dedupe_key, trace, is_new) where u.is_new),
    added as (insert into task (task_id, task_definition_id, kind, priority, created_at, pending_group_key, pending_group_is_global, wave_id, dedupe_key, build, trace_parent, payload)
              select n.id, d.task_definition_id, n.kind, n.priority::smallint, v_now, n.group_key, case when n.group_key is not null then coalesce(n.is_global, false) end,
                     p_wave_id, n.dedupe_key, p_build, n.trace, n.payload from new n)
    insert into wave_blocked (wave_id, priority, rank, task_id, task_definition_id)
    select p_wave_id, n.priority::smallint, 0, n.id, d.task_definition_id from new n;
  elsif not v.has_groups then
    with new as materialized (
      select u.* from unnest(v_ids, v.payloads, v.kinds, v.priorities, v.run_ats, v.dedupe_keys, v.traces, coalesce(v_is_new, array_fill(true, array[cardinality(v_ids)])))
                      as u(id, payload, kind, priority, run_at, dedupe_key, trace, is_new) where u.is_new),
    added as (insert into task (task_id, task_definition_id, kind, priority, created_at, due_at, dedupe_key, build, trace_parent, payload)
              select n.id, d.task_definition_id, n.kind, n.priority::smallint, v_now, n.run_at, n.dedupe_key, p_build, n.trace, n.payload from new n),
    opened as (insert into taskgate.ready (task_definition_id, priority, rank, task_id)
               select d.task_definition_id, n.priority::smallint, 0, n.id from new n where n.run_at is null),
    later as (insert into scheduled (task_definition_id, run_at, task_id)
              select d.task_definition_id, n.run_at, n.id from new n where n.run_at is not null)
    select bool_or(n.run_at is null), ceil(extract(epoch from min(n.run_at) - v_now) * 1000)::bigint into ready, next_due_ms from new n;
  else
    select o_ready, o_next_due_ms into ready, next_due_ms
      from _enqueue_grouped(d.task_definition_id, d.group_slots, d.group_strict, p_build, p_joins_transaction, v_now,
                            v_ids, v.payloads, v.kinds, v.priorities::smallint[], v.group_keys, v.globals, v.run_ats, v.dedupe_keys, v.traces,
                            coalesce(v_is_new, array_fill(true, array[cardinality(v_ids)])));
  end if;
  -- 4. What replaces: nothing is waited for any more. Of several entries with one key the first decides.
  if false = any (v_is_new) then
    v_first := array(                                -- the first entry of each key that was another task's before
      select min(u.n) from unnest(v_ids, v.dedupe_keys) with ordinality u(id, key, n)
       group by u.id having not bool_or(v_is_new[u.n]));
    if true = any (array(select v.replacing[f] from unnest(v_first) f)) then
      select _replace_payloads(array_agg(v_ids[f]), array_agg(v.kinds[f]), array_agg(v.payloads[f]), array_agg(v.traces[f]), p_build, p_joins_transaction)
        into v_replaced from unnest(v_first) f where v.replacing[f];
    end if;
    outcomes := '[' || (
      select string_agg(case when u.is_new then '"enqueued"' when (u.n in (select unnest(v_first))) is true and (v_ids[u.n] in (select unnest(v_replaced))) is true then '"replaced"' else '"duplicate"' end, ',' order by u.n)
        from unnest(v_is_new) with ordinality u(is_new, n)) || ']';
  end if;
  if p_changed_by is not null and (v_is_new is null or true = any (v_is_new) or cardinality(v_replaced) > 0) then
    perform _audit_call('enqueue_tasks', d.task_definition_id, null,
                        array(select distinct u.id from unnest(v_ids, coalesce(v_is_new, array_fill(true, array[cardinality(v_ids)]))) u(id, is_new)
                               where u.is_new or (u.id in (select unnest(v_replaced))) is true order by u.id), p_changed_by, p_reason, v_now);
  end if;
  ready := coalesce(ready, false);
  task_ids := '[' || (select string_agg('"' || u.id || '"', ',' order by u.n) from unnest(v_ids) with ordinality u(id, n)) || ']';
  if p_operation_id is not null then
    update operation o set answer = _enqueued(d.task_definition_id, task_ids, outcomes, ready, next_due_ms) where o.operation_id = p_operation_id;
  end if;
end $$;
