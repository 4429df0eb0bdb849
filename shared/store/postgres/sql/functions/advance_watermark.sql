-- taskgate.advance_watermark: moves a watermark and adds the tasks (blocks) that lie between, both or neither. Joins the caller's
--         transaction.
-- In:     p_name: the definition; p_watermark: its name, 1..200 characters; p_expected_version bigint: the version that the caller has
--           read, 0 or null: there is none yet; p_value: JSON text of an object or array, at most 65536 bytes: where it stands then
--         p_build bigint, p_tasks: as enqueue_tasks takes them, but the array may be empty: then only the watermark moves
--         p_operation_id uuid: a repeat with it answers what the first call did; null: the version alone protects, and a
--           repeat is told of a conflict
--         p_needs_all: true: a task whose dedupe key another one holds is refused, and the call with it; false, null: it is answered as a duplicate
-- Out:    status: advanced | conflict (another call moved it: nothing was written); version bigint: the new one, of a conflict the one
--           in the table, 0 when there is none; value: of a conflict: the value in the table, or null
--         task_ids, outcomes, ready, next_due_ms: as enqueue_tasks answers; of a conflict null, null, false, null
-- Raises: TG404 unknown definition; TG409 the operation id was used by another operation, or for another watermark, or with p_needs_all a task is a duplicate; TG413 too many or too large; TG422 a bad
--         value; TG490 another isolation level than read committed
-- Locks:  operation (a repeat of itself), block_watermark (other callers that move it), then as enqueue_tasks: dedupe in key order, new
--         rows. Grouped tasks enter scheduled as due now, so no group is locked here
-- Plan:   unique name, primary keys
-- Once:   by operation id; by version: of two calls with the same one at most one moves it. A conflict writes nothing, and its repeat
--         reads the version again
-- Twin:   mssql/sql/procedures/AdvanceWatermark.sql
create or replace function taskgate.advance_watermark(
  p_name text, p_watermark text, p_expected_version bigint, p_value text, p_build bigint, p_tasks text, p_operation_id uuid default null,
  p_needs_all boolean default false,
  out status text, out version bigint, out value text, out task_ids text, out outcomes text, out ready boolean, out next_due_ms bigint)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_expected bigint := coalesce(p_expected_version, 0);
  v_definition int;
  v_answer json;
  e record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'transaction: expected isolation level read committed (%)', current_setting('transaction_isolation') using errcode = 'TG490';
  end if;
  perform _check_text('watermark', p_watermark);
  if v_expected < 0 then raise exception 'expected_version: expected 0 or more (%)', v_expected using errcode = 'TG422'; end if;
  if octet_length(p_value) > 65536 then
    raise exception 'value: expected at most 65536 bytes (%)', octet_length(p_value) using errcode = 'TG413';
  end if;
  if p_value is null or not _is_json_container(p_value) then
    raise exception 'value: expected the text of a JSON object or array (%)', left(p_value, 100) using errcode = 'TG422';
  end if;
  v_definition := _find_definition(p_name);
  if p_operation_id is not null then
    insert into operation (operation_id, name, done_at) values (p_operation_id, 'advance_watermark', v_now) on conflict do nothing;
    if not found then
      v_answer := _first_answer(p_operation_id, 'advance_watermark', v_definition || '/' || p_watermark);
      status := 'advanced'; version := v_answer ->> 'version'; task_ids := v_answer ->> 'taskIds'; outcomes := v_answer ->> 'outcomes';
      ready := v_answer ->> 'ready'; next_due_ms := v_answer ->> 'nextDueMs';
      return;
    end if;
  end if;

  status := 'advanced'; task_ids := '[]'; ready := false;
  if v_expected = 0 then
    insert into block_watermark as w (task_definition_id, name, watermark_value, version, changed_at)
    values (v_definition, p_watermark, p_value, 1, v_now) on conflict do nothing;
    if found then version := 1; end if;
  end if;
  if version is null then
    select w.version, nullif(w.watermark_value, 'null') into version, value from block_watermark w
     where w.task_definition_id = v_definition and w.name = p_watermark for no key update;   -- lock, then look
    if version is distinct from v_expected then
      delete from operation o where o.operation_id = p_operation_id;
      status := 'conflict'; version := coalesce(version, 0); task_ids := null;
      return;
    end if;
    version := version + 1; value := null;
    update block_watermark w set watermark_value = p_value, version = advance_watermark.version, changed_at = v_now
     where w.task_definition_id = v_definition and w.name = p_watermark;
  end if;
  -- What isn't an array is for enqueue_tasks to refuse.
  if coalesce(btrim(p_tasks, E' \t\r\n') !~ '^\[\s*\]$', true) then
    select x.* into e from enqueue_tasks(p_name, p_build, p_tasks, null, true, null) x;
    task_ids := e.task_ids; outcomes := e.outcomes; ready := e.ready; next_due_ms := e.next_due_ms;
    if p_needs_all and outcomes is not null then
      select o.n - 1 as at, task_ids::json ->> (o.n - 1)::int as holder into e
        from json_array_elements_text(outcomes::json) with ordinality o(outcome, n) where o.outcome <> 'enqueued' order by o.n limit 1;
      raise exception 'tasks[%]: expected a dedupe key that no other task holds, as no block may be left out (task % holds it)', e.at, e.holder using errcode = 'TG409';
    end if;
  end if;
  update operation o
     set answer = json_build_object('target', v_definition || '/' || p_watermark, 'version', version, 'taskIds', task_ids, 'outcomes', outcomes, 'ready', ready, 'nextDueMs', next_due_ms)::text
   where o.operation_id = p_operation_id;
end $$;
