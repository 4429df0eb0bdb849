-- taskgate._set_paused: pauses a definition or takes its pause away, and notes it in the audit.
-- In:     p_name; p_paused: as it is to be; p_changed_by, p_reason for the audit; p_is_stop: the pause is part of a stop of everything
-- Out:    o_did_change: false: it was so already; o_ready: tasks wait
-- Raises: TG404 unknown definition; TG422 a text too long
-- Locks:  task_definition, then its row in stopped_definition
-- Plan:   unique name, primary key
-- Twin:   inside PauseDefinition and ResumeDefinition, whose checks come before their transaction
create or replace function taskgate._set_paused(
  p_name text, p_paused boolean, p_changed_by text, p_reason text, p_is_stop boolean, out o_did_change boolean, out o_ready boolean)
language plpgsql as $$
declare
  v_definition int;
begin
  perform _check_actor(p_changed_by, p_reason);
  v_definition := _find_definition(p_name);
  perform pg_advisory_xact_lock(42, v_definition);
  update task_definition set paused = p_paused where task_definition_id = v_definition and paused <> p_paused;
  o_did_change := found;
  if o_did_change then
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
    values (v_definition, 'paused', (not p_paused)::text, p_paused::text, 'operator', p_changed_by, p_reason, _now());
  end if;
  if o_did_change or not p_is_stop then
    delete from stopped_definition s where s.task_definition_id = v_definition;
  end if;
  if o_did_change and p_is_stop then
    insert into stopped_definition (task_definition_id, stopped_at, stopped_by, reason) values (v_definition, _now(), p_changed_by, p_reason);
  end if;
  o_ready := exists (select 1 from ready r where r.task_definition_id = v_definition);
end $$;
