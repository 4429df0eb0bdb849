-- taskgate._set_paused: pauses a definition or takes its pause away, and notes it in the audit.
-- In:     p_name; p_paused: as it is to be; p_changed_by (null: the login), p_reason for the audit; p_is_stop: the pause is part of a stop of everything;
--         p_expected_paused: only if it is so now; null: either
-- Out:    o_status: paused | resumed | exists | conflict (it isn't as expected: nothing was written); o_ready: tasks wait
-- Raises: TG404 unknown definition; TG422 an actor that is empty, or a text too long
-- Locks:  task_definition, then its row in stopped_definition
-- Plan:   unique name, primary key
-- Twin:   inside PauseDefinition and ResumeDefinition, whose checks come before their transaction
create or replace function taskgate._set_paused(
  p_name text, p_paused boolean, p_changed_by text, p_reason text, p_is_stop boolean, p_expected_paused boolean, out o_status text, out o_ready boolean)
language plpgsql as $$
declare
  v_definition int;
  v_paused boolean;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  v_definition := _find_definition(p_name);
  perform pg_advisory_xact_lock(42, v_definition);
  select d.paused into v_paused from task_definition d where d.task_definition_id = v_definition for no key update;   -- lock, then look
  o_status := case when v_paused <> p_expected_paused then 'conflict' when v_paused = p_paused then 'exists' when p_paused then 'paused' else 'resumed' end;
  if o_status in ('paused', 'resumed') then
    update task_definition set paused = p_paused where task_definition_id = v_definition;
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
    values (v_definition, 'paused', (not p_paused)::text, p_paused::text, 'operator', p_changed_by, p_reason, _now());
  end if;
  if o_status in ('paused', 'resumed') or o_status = 'exists' and not p_is_stop then
    delete from stopped_definition s where s.task_definition_id = v_definition;
    if found and o_status = 'exists' then   -- the stop's pause is the operator's own now
      insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
      values (v_definition, 'paused', 'stopped', 'true', 'operator', p_changed_by, p_reason, _now());
    end if;
  end if;
  if o_status = 'paused' and p_is_stop then
    insert into stopped_definition (task_definition_id, stopped_at, stopped_by, reason) values (v_definition, _now(), p_changed_by, p_reason);
  end if;
  o_ready := exists (select 1 from ready r where r.task_definition_id = v_definition);
end $$;
