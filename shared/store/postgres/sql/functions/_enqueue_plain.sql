-- taskgate._enqueue_plain: the part of enqueue_tasks for entries that say no more than payload, kind, priority and trace, as most do.
-- In:     p_task_definition_id int, p_name text: the definition; p_build bigint; p_tasks json, p_payloads text, p_operation_id uuid: as of enqueue_tasks; p_now timestamptz
-- Out:    text: JSON array of the ids as strings, in input order; null: nothing was written. Then an entry says
--         more or something bad, or the operation id was used before; enqueue_tasks has to look at each
-- Raises: -
-- Locks:  operation (a repeat of itself); new rows
-- Plan:   primary key of operation; one pass over the text, one over the rows
-- Twin:   mssql/sql/procedures/_EnqueuePlain.sql
create or replace function taskgate._enqueue_plain(p_task_definition_id int, p_name text, p_build bigint, p_tasks json, p_payloads text, p_operation_id uuid, p_now timestamptz) returns text
language plpgsql as $$
declare
  v_begin text := left(p_tasks::text, 20000);        -- where the first entries say more, most say more: the pass over all of them is spared
  v record;
  v_trace text;
  v_kind text;
  v_priority int;
  v_is_sound boolean := true;
  v_ids bigint[];
  v_answer text;
begin
  if greatest(strpos(v_begin, '"group"'), strpos(v_begin, '"runInMs"'), strpos(v_begin, '"runAt"'), strpos(v_begin, '"dedupeKey"')) > 0 then
    return null;
  end if;
  begin                                              -- nothing is written here: a block that writes costs a transaction id
    select array_agg(coalesce(r.kind, p_name)) as kinds, array_agg(coalesce(r.priority, 100)) as priorities, array_agg(r.payload) as payloads, array_agg(r.trace) as traces,
           bool_or(num_nonnulls(r."group", r."groupScope", r."runInMs", r."runAt", r."dedupeKey", r."dedupeMs", r."onDuplicate") > 0
                or octet_length(r.payload) > 65536 or json_typeof(r.payload::json) not in ('object', 'array')
                or r.kind is not null and (char_length(r.kind) not between 1 and 200 or r.kind <> btrim(r.kind))
                or r.priority not between -32768 and 32767 or left(r.kind, 1) in ('{', '[')) as says_more_or_bad   -- no texts, perhaps
      into v
      from json_to_recordset(p_tasks) as r(payload text, kind text, priority int, trace text, "group" text, "groupScope" text, "runInMs" text, "runAt" text,
                                           "dedupeKey" text, "dedupeMs" text, "onDuplicate" text);
    if p_payloads is not null then                   -- of one entry: its kind, priority and trace are those of all payloads
      v_is_sound := cardinality(v.payloads) = 1 and v.payloads[1] is null;
      select array_agg(j.payload), v_is_sound and bool_and(j.is_sound and octet_length(j.payload) <= 65536) into v.payloads, v_is_sound
        from (select e.value::text as payload, json_typeof(e.value) in ('object', 'array') as is_sound
                from json_array_elements(p_payloads::json) e offset 0) j;   -- offset: a payload's text is made once
      v_is_sound := v_is_sound and cardinality(v.payloads) <= 10000;
    end if;
  exception when data_exception or statement_too_complex then
    return null;
  end;
  v_trace := v.traces[1];                            -- looked at once where all have it; written as enqueue_tasks has it
  v_kind := v.kinds[1];
  v_priority := v.priorities[1];
  if v_is_sound is not true or v.says_more_or_bad or not (v_trace like '__-________________________________-________________-__' and char_length(translate(v_trace, '0123456789abcdef', '')) = 3) then
    return null;
  end if;
  if cardinality(array_remove(v.traces, v_trace)) > 0 then   -- apart, as a condition with a query is a statement
    if exists (select 1 from unnest(v.traces) t(trace)
                where not (t.trace like '__-________________________________-________________-__' and char_length(translate(t.trace, '0123456789abcdef', '')) = 3)) then
      return null;
    end if;
  end if;
  if cardinality(v.payloads) = 1 then
    v_ids := array[nextval('taskgate.task_sequence')];   -- no statement for one
  else
    v_ids := array(select nextval('taskgate.task_sequence') from generate_series(1, cardinality(v.payloads)));
  end if;
  v_answer := '["' || array_to_string(v_ids, '","') || '"]';
  if p_operation_id is not null then
    insert into operation (operation_id, name, done_at, answer)
    values (p_operation_id, 'enqueue_tasks', p_now, _enqueued(p_task_definition_id, v_answer, null, true, null)) on conflict do nothing;
    if not found then return null; end if;
  end if;
  with added as (
    insert into task (task_id, task_definition_id, kind, priority, created_at, build, trace_parent, payload)
    select u.id, p_task_definition_id, coalesce(u.kind, v_kind), coalesce(u.priority, v_priority)::smallint, p_now, p_build, case when p_payloads is null then u.trace else v_trace end, u.payload
      from unnest(v_ids, v.kinds, v.priorities, v.traces, v.payloads) as u(id, kind, priority, trace, payload))
  insert into ready (task_definition_id, priority, rank, task_id)
  select p_task_definition_id, coalesce(u.priority, v_priority)::smallint, 0, u.id from unnest(v_ids, v.priorities) as u(id, priority);
  return v_answer;
end $$;
