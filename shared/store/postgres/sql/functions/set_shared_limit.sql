-- taskgate.set_shared_limit: an operator's limit that several definitions share, over the code's, or no override any more. One that
-- doesn't exist yet is made. Acts at the next grant.
-- In:     p_name 1..200 characters; p_limit -1 none | 0 nothing starts | 1..1000 | null: the code's limit again;
--         p_operation_id uuid: a repeat with it answers what the first call did; p_changed_by (null: the login), p_reason for the audit
--         p_expected_limit -1..1000: only if this is the limit in force; null: any, also none yet
-- Out:    status: set | created | conflict (another limit is in force, or there is none: nothing was written; old_limit and new_limit are
--         it, held and over_limit 0); old_limit (null: it was made, or isn't there), new_limit: effective, -1 none; held: tokens held now by all definitions
--         together; over_limit: of them above the new limit: they come back as their tasks end, no task is stopped
--         definitions: JSON array of names of those that draw from it and have ready tasks (hints are due when raised), or null
-- Raises: TG404 null for a name that doesn't exist; TG409 the operation id was used by another operation, or for another limit; TG422 name or limit
--         out of range or no operation id
-- Locks:  operation, shared_limit, shared_token_demand (own new row), task_execution (dead holders, by skip)
-- Plan:   unique name, primary keys
-- Once:   by operation id, and by value; a conflict writes nothing, and its repeat reads the limit again
-- Twin:   mssql/sql/procedures/SetSharedLimit.sql
create or replace function taskgate.set_shared_limit(
  p_name text, p_limit int, p_operation_id uuid, p_changed_by text, p_reason text default null, p_expected_limit int default null,
  out status text, out old_limit int, out new_limit int, out held int, out over_limit int, out definitions text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_answer json;
  v_id int;
  v_is_new boolean;
  s record;
  c record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  perform _check_text('name', p_name);
  if p_limit not between -1 and 1000 then
    raise exception 'limit: expected -1 (none), 0 (nothing starts) or 1..1000 (%)', p_limit using errcode = 'TG422';
  end if;
  if p_operation_id is null then raise exception 'operation_id: expected a uuid (%)', p_operation_id using errcode = 'TG422'; end if;
  select x.shared_limit_id into v_id from shared_limit x where x.name = p_name;
  if not found and p_limit is null then raise exception 'name: unknown shared limit (%)', p_name using errcode = 'TG404'; end if;
  insert into operation (operation_id, name, done_at) values (p_operation_id, 'set_shared_limit', v_now) on conflict do nothing;
  if not found then
    v_answer := _first_answer(p_operation_id, 'set_shared_limit', p_name);
    status := v_answer ->> 'status'; old_limit := v_answer ->> 'oldLimit'; new_limit := v_answer ->> 'newLimit'; held := v_answer ->> 'held';
    over_limit := v_answer ->> 'overLimit'; definitions := v_answer ->> 'definitions';
    return;
  end if;
  if v_id is null and p_expected_limit is not null then
    delete from operation o where o.operation_id = p_operation_id;
    status := 'conflict'; new_limit := -1; held := 0; over_limit := 0;
    return;
  end if;
  if v_id is null then
    insert into shared_limit (name) values (p_name) on conflict (name) do nothing returning shared_limit_id into v_id;
    v_is_new := found;
    if v_is_new then
      insert into shared_token_demand (shared_limit_id, denied_at, given_at) values (v_id, '2000-01-01 00:00:00+00', '2000-01-01 00:00:00+00');
    end if;
    select x.shared_limit_id into v_id from shared_limit x where x.name = p_name;
  end if;
  status := case when v_is_new then 'created' else 'set' end;
  perform _lock_shared(array[v_id]);
  select x.concurrency_limit, x.concurrency_limit_override into s from shared_limit x where x.shared_limit_id = v_id;
  if coalesce(s.concurrency_limit_override, s.concurrency_limit) <> p_expected_limit then
    delete from operation o where o.operation_id = p_operation_id;
    status := 'conflict'; old_limit := coalesce(s.concurrency_limit_override, s.concurrency_limit); new_limit := old_limit; held := 0; over_limit := 0;
    return;
  end if;
  select * into c from _change_shared_limit(v_id, s.concurrency_limit, p_limit);
  old_limit := case when v_is_new then null else c.o_old end;
  new_limit := c.o_new; held := c.o_held; over_limit := c.o_over_limit;
  definitions := (
    select json_agg(d.name order by d.name)::text from task_definition_shared_limit l join task_definition d on d.task_definition_id = l.task_definition_id
     where l.shared_limit_id = v_id and exists (select 1 from taskgate.ready r where r.task_definition_id = d.task_definition_id));
  insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
  values (0, 'shared_limit_override', s.concurrency_limit_override || ' of ' || p_name, p_limit || ' of ' || p_name, 'operator',
          p_changed_by, p_reason, v_now);
  update operation o set answer = json_build_object('target', p_name, 'status', status, 'oldLimit', old_limit, 'newLimit', new_limit, 'held', held, 'overLimit', over_limit,
                                                    'definitions', definitions)::text
   where o.operation_id = p_operation_id;
end $$;
