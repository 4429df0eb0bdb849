-- taskgate.set_limit: an operator's limit, over the code's, or no override any more. Acts at the next grant.
-- In:     p_name; p_limit -1 none | 0 nothing starts | 1..1000 | null: the code's limit again;
--         p_operation_id uuid: a repeat with it answers what the first call did; p_changed_by (null: the login), p_reason for the audit
--         p_expected_limit -1..1000: only if this is the limit in force; null: any
-- Out:    status: set | conflict (another limit is in force: nothing was written; old_limit and new_limit are it, held and over_limit 0);
--         old_limit, new_limit: effective, -1 none; held: tokens held now; over_limit: of them above the new
--         limit: they come back as their tasks end, no task is stopped; ready: tasks wait (a hint is due when raised)
-- Raises: TG404 unknown definition; TG409 the operation id was used by another operation, or for another definition; TG422 limit out of range or no operation id
-- Locks:  operation, task_definition
-- Plan:   unique name, primary keys
-- Once:   by operation id, and by value; a conflict writes nothing, and its repeat reads the limit again
-- Twin:   mssql/sql/procedures/SetLimit.sql
create or replace function taskgate.set_limit(
  p_name text, p_limit int, p_operation_id uuid, p_changed_by text, p_reason text default null, p_expected_limit int default null,
  out status text, out old_limit int, out new_limit int, out held int, out over_limit int, out ready boolean)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_answer json;
  v_definition int;
  d record;
  c record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  if p_limit not between -1 and 1000 then
    raise exception 'limit: expected -1 (none), 0 (nothing starts) or 1..1000 (%)', p_limit using errcode = 'TG422';
  end if;
  if p_operation_id is null then raise exception 'operation_id: expected a uuid (%)', p_operation_id using errcode = 'TG422'; end if;
  v_definition := _find_definition(p_name);
  status := 'set';
  insert into operation (operation_id, name, done_at) values (p_operation_id, 'set_limit', v_now) on conflict do nothing;
  if not found then
    v_answer := _first_answer(p_operation_id, 'set_limit', v_definition::text);
    old_limit := v_answer ->> 'oldLimit'; new_limit := v_answer ->> 'newLimit'; held := v_answer ->> 'held';
    over_limit := v_answer ->> 'overLimit'; ready := v_answer ->> 'ready';
    return;
  end if;
  perform pg_advisory_xact_lock(42, v_definition);
  select x.concurrency_limit, x.concurrency_limit_override into d from task_definition x where x.task_definition_id = v_definition for no key update;
  if coalesce(d.concurrency_limit_override, d.concurrency_limit) <> p_expected_limit then
    delete from operation o where o.operation_id = p_operation_id;
    status := 'conflict'; old_limit := coalesce(d.concurrency_limit_override, d.concurrency_limit); new_limit := old_limit;
    held := 0; over_limit := 0; ready := false;
    return;
  end if;
  select * into c from _change_limit(v_definition, d.concurrency_limit, p_limit);
  old_limit := c.o_old; new_limit := c.o_new; held := c.o_held; over_limit := c.o_over_limit;
  ready := exists (select 1 from taskgate.ready r where r.task_definition_id = v_definition);
  insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
  values (v_definition, 'limit_override', d.concurrency_limit_override::text, p_limit::text, 'operator', p_changed_by, p_reason, v_now);
  update operation o set answer = json_build_object('target', v_definition::text, 'oldLimit', old_limit, 'newLimit', new_limit, 'held', held, 'overLimit', over_limit, 'ready', ready)::text
   where o.operation_id = p_operation_id;
end $$;
