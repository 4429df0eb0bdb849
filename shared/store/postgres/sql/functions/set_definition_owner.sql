-- taskgate.set_definition_owner: an operator hands a definition over to another app, or releases it.
-- In:     p_name; p_app 1..200 characters without leading or trailing blanks, which needn't be registered yet | null: no app, until one
--         registers it; p_changed_by (null: the login), p_reason for the audit; p_expected_app: only if it belongs to this app, '': to none; null: to any
-- Out:    status: set | exists (it was so already) | conflict (it belongs to another app: nothing was written; both are it);
--         old_app, new_app text, null: none
-- Raises: TG404 unknown definition; TG422 a value out of range
-- Locks:  definition_owner
-- Plan:   unique name, primary key
-- Once:   by value
-- Twin:   mssql/sql/procedures/SetDefinitionOwner.sql
create or replace function taskgate.set_definition_owner(
  p_name text, p_app text, p_changed_by text, p_reason text default null, p_expected_app text default null,
  out status text, out old_app text, out new_app text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  if p_app is not null and _app_problem(p_app) is not null then raise exception '%', _app_problem(p_app) using errcode = 'TG422'; end if;
  v_definition := _find_definition(p_name);
  new_app := p_app;
  loop
    select o.app into old_app from definition_owner o where o.name = p_name for no key update;   -- lock, then look
    if coalesce(old_app, '') <> p_expected_app then
      status := 'conflict'; new_app := old_app;
      return;
    elsif old_app is not distinct from p_app then
      status := 'exists';
      return;
    end if;
    if p_app is null then
      delete from definition_owner o where o.name = p_name;
      exit;
    elsif old_app is not null then
      update definition_owner o set app = p_app where o.name = p_name;
      exit;
    end if;
    -- What isn't there can't be locked. Another call's new owner is waited for here, and read above in the next turn.
    insert into definition_owner (name, app) values (p_name, p_app) on conflict (name) do nothing;
    exit when found;
  end loop;
  status := 'set';
  insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
  values (v_definition, 'owner', old_app, new_app, 'operator', p_changed_by, p_reason, v_now);
end $$;
