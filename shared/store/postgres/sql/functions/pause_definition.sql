-- taskgate.pause_definition: nothing new is claimed or started; running tasks go on and may complete.
-- In:     p_name; p_changed_by, p_reason for the audit
-- Out:    status: paused | exists (it was so already); ready: tasks wait
-- Raises: TG404 unknown definition; TG422 a text too long
-- Locks:  task_definition
-- Plan:   unique name, primary key
-- Once:   by value
-- Twin:   mssql/sql/procedures/PauseDefinition.sql
create or replace function taskgate.pause_definition(
  p_name text, p_changed_by text, p_reason text default null,
  out status text, out ready boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_definition int;
begin
  if _audit_problem(p_changed_by, p_reason) is not null then raise exception '%', _audit_problem(p_changed_by, p_reason) using errcode = 'TG422'; end if;
  select x.task_definition_id into v_definition from task_definition x where x.name = p_name;
  if not found then raise exception 'name: unknown definition (%)', p_name using errcode = 'TG404'; end if;
  perform pg_advisory_xact_lock(42, v_definition);
  update task_definition set paused = true where task_definition_id = v_definition and paused <> true;
  status := case when found then 'paused' else 'exists' end;
  if status <> 'exists' then
    insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
    values (v_definition, 'paused', (not true)::text, true::text, 'operator', p_changed_by, p_reason, _now());
  end if;
  ready := exists (select 1 from taskgate.ready r where r.task_definition_id = v_definition);
end $$;
