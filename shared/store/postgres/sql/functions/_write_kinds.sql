-- taskgate._write_kinds: writes the rules of the kinds that a registration names. Those of other kinds stay.
-- In:     p_task_definition_id int; p_kinds text: checked by _kinds_problem, or null: nothing changes
-- Out:    o_old, o_new: all rules of the definition before and now, for the audit
-- Raises: -
-- Locks:  task_kind: rows of the definition. Only registrations write them, and they come one after the other
-- Plan:   primary key
-- Twin:   mssql/sql/procedures/_WriteKinds.sql
create or replace function taskgate._write_kinds(p_task_definition_id int, p_kinds text, out o_old text, out o_new text)
language plpgsql as $$
begin
  o_old := _kinds_text(p_task_definition_id);
  delete from task_kind k using json_array_elements(p_kinds::json) j(value)
   where k.task_definition_id = p_task_definition_id and k.kind = j.value ->> 'kind';
  insert into task_kind (task_definition_id, kind, group_by, is_group_computed, priority, run_in_ms, dedupe_by, dedupe_ms)
  select p_task_definition_id, r.kind, r."groupBy", coalesce(r."isGroupComputed", false), r.priority, r."runInMs", r."dedupeBy", r."dedupeMs"
    from json_to_recordset(p_kinds::json) as r(kind text, "groupBy" text, "isGroupComputed" boolean, priority smallint, "runInMs" bigint, "dedupeBy" text, "dedupeMs" bigint)
   where r."groupBy" is not null or r."isGroupComputed" or r.priority is not null or r."runInMs" is not null or r."dedupeBy" is not null;
  o_new := _kinds_text(p_task_definition_id);
end $$;
