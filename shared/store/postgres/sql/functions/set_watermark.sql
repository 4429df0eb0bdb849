-- taskgate.set_watermark: an operator's watermark: back, to make blocks again, on, to pass over data, or none, to begin anew. Makes no
--         tasks, and leaves those that there are.
-- In:     p_name: the definition; p_watermark: its name, 1..200 characters; one that doesn't exist is made; p_value: JSON text of an
--           object or array, at most 65536 bytes, or null: none, the next maker begins where it begins the first time
--         p_expected_version bigint: only if this is its version, 0 there is none yet; null: any version
--         p_operation_id uuid: a repeat with it answers what the first call did; p_changed_by (null: the login), p_reason for the audit
-- Out:    status: set | conflict (another call moved it: nothing was written); version bigint: the new one, of a conflict the one
--           in the table, 0 when there is none; old_value: the value before, of a conflict the value in the table, or null
-- Raises: TG404 unknown definition; TG409 the operation id was used by another operation, or for another watermark; TG413 too large; TG422 a bad value
-- Locks:  operation (a repeat of itself), block_watermark (callers that move it)
-- Plan:   unique name, primary keys
-- Once:   by operation id; a conflict writes nothing, and its repeat reads the version again
-- Twin:   mssql/sql/procedures/SetWatermark.sql
create or replace function taskgate.set_watermark(
  p_name text, p_watermark text, p_value text, p_expected_version bigint, p_operation_id uuid, p_changed_by text, p_reason text default null,
  out status text, out version bigint, out old_value text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  v_answer json;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  perform _check_text('watermark', p_watermark);
  if p_expected_version < 0 then raise exception 'expected_version: expected 0 or more (%)', p_expected_version using errcode = 'TG422'; end if;
  if octet_length(p_value) > 65536 then
    raise exception 'value: expected at most 65536 bytes (%)', octet_length(p_value) using errcode = 'TG413';
  end if;
  if not _is_json_container(p_value) then
    raise exception 'value: expected the text of a JSON object or array (%)', left(p_value, 100) using errcode = 'TG422';
  end if;
  if p_operation_id is null then raise exception 'operation_id: expected a uuid (%)', p_operation_id using errcode = 'TG422'; end if;
  v_definition := _find_definition(p_name);
  status := 'set';
  insert into operation (operation_id, name, done_at) values (p_operation_id, 'set_watermark', v_now) on conflict do nothing;
  if not found then
    v_answer := _first_answer(p_operation_id, 'set_watermark', v_definition || '/' || p_watermark);
    version := v_answer ->> 'version'; old_value := v_answer ->> 'oldValue';
    return;
  end if;

  if coalesce(p_expected_version, 0) = 0 then
    insert into block_watermark (task_definition_id, name, watermark_value, version, changed_at)
    values (v_definition, p_watermark, coalesce(p_value, 'null'), 1, v_now) on conflict do nothing;
    if found then version := 1; end if;
  end if;
  if version is null then
    select w.version, nullif(w.watermark_value, 'null') into version, old_value from block_watermark w
     where w.task_definition_id = v_definition and w.name = p_watermark for no key update;   -- lock, then look
    if version is distinct from coalesce(p_expected_version, version) then
      delete from operation o where o.operation_id = p_operation_id;
      status := 'conflict'; version := coalesce(version, 0);
      return;
    end if;
    version := version + 1;
    update block_watermark w set watermark_value = coalesce(p_value, 'null'), version = set_watermark.version, changed_at = v_now
     where w.task_definition_id = v_definition and w.name = p_watermark;
  end if;
  insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
  values (v_definition, 'watermark',                -- the first ` of ` ends the value: one that has it is written with an escape that JSON knows
          left(replace(old_value, ' of', ' o\u0066'), 190) || ' of ' || p_watermark, left(replace(p_value, ' of', ' o\u0066'), 190) || ' of ' || p_watermark,
          'operator', p_changed_by, p_reason, v_now);
  update operation o set answer = json_build_object('target', v_definition || '/' || p_watermark, 'version', version, 'oldValue', old_value)::text where o.operation_id = p_operation_id;
end $$;
