-- taskgate.set_group: an operator's settings of a group; one that doesn't exist yet is made. Acts at once; such a group is never purged.
-- In:     p_name: the definition; p_group_key 1..200 characters; p_group_scope: definition (null: so) | global;
--         p_slots int 1..1000, p_paused, p_strict: null leaves them, in a new group as the definition has them;
--         p_expected_slots int, p_expected_paused, p_expected_strict: only if the group is there and these are its settings; null: any
--         p_changed_by (null: the login), p_reason for the audit, whose entries name the scope: own_group_slots, global_group_slots
-- Out:    status: created | set | exists (they were so already) | conflict (they aren't as expected, or there is no such group: nothing
--           was written; old ones are those of the group, or null, new ones the same, or those that it would have); old_slots, new_slots int, old_paused, new_paused, old_strict, new_strict
--           boolean: old ones null in a new group; used int: slots in use, which may be more than the new ones: no running task is stopped, and
--           nothing is handed over until fewer are; waiting int: tasks, counted up to 1000
--         woken: JSON array of definitions that got ready tasks, or null
-- Raises: TG404 unknown definition; TG422 a value out of range
-- Locks:  advisory 43 (an enqueue that makes the group), task_group, then as _hand_over
-- Plan:   unique names, primary keys; first entries of pk_group_waiting under the group
-- Once:   by value
-- Twin:   mssql/sql/procedures/SetGroup.sql
create or replace function taskgate.set_group(
  p_name text, p_group_key text, p_group_scope text, p_slots int, p_paused boolean, p_strict boolean, p_changed_by text, p_reason text default null,
  p_expected_slots int default null, p_expected_paused boolean default null, p_expected_strict boolean default null,
  out status text, out old_slots int, out new_slots int, out old_paused boolean, out new_paused boolean, out old_strict boolean, out new_strict boolean,
  out used int, out waiting int, out woken text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_scope int;
  v_group int;
  d record;
  g record;
begin
  p_changed_by := _check_actor(p_changed_by, p_reason);
  perform _check_text('group_key', p_group_key);
  if p_group_scope not in ('definition', 'global') then
    raise exception 'group_scope: expected definition or global (%)', left(p_group_scope, 220) using errcode = 'TG422';
  end if;
  if p_slots is not null then perform _check_range('slots', p_slots, 1, 1000); end if;
  select x.task_definition_id, x.group_slots, x.group_strict into d from task_definition x where x.name = p_name;
  if not found then raise exception 'name: unknown definition (%)', p_name using errcode = 'TG404'; end if;
  v_scope := case p_group_scope when 'global' then 0 else d.task_definition_id end;

  perform pg_advisory_xact_lock(43, _group_latch(v_scope, p_group_key));   -- no other call makes it from here on
  select x.group_id, x.slots, x.paused, x.strict as group_strict into g from task_group x
   where x.task_definition_id = v_scope and x.group_key = p_group_key for no key update;   -- lock, then look
  if g.slots <> p_expected_slots or g.paused <> p_expected_paused or g.group_strict <> p_expected_strict
    or g.group_id is null and (p_expected_slots is not null or p_expected_paused is not null or p_expected_strict is not null) then
    status := 'conflict'; old_slots := g.slots; new_slots := coalesce(g.slots, d.group_slots); old_paused := g.paused;
    new_paused := coalesce(g.paused, false); old_strict := g.group_strict; new_strict := coalesce(g.group_strict, d.group_strict); used := 0; waiting := 0;
    return;
  end if;
  if g.group_id is null then                         -- also when a purge has just removed it
    insert into task_group (task_definition_id, group_key, slots, paused, strict)
    values (v_scope, p_group_key, coalesce(p_slots, d.group_slots), coalesce(p_paused, false), coalesce(p_strict, d.group_strict))
    returning group_id, slots, paused, strict as group_strict into g;
    status := 'created';
  end if;
  v_group := g.group_id;
  insert into group_kept (group_id) values (v_group) on conflict do nothing;
  new_slots := coalesce(p_slots, g.slots); new_paused := coalesce(p_paused, g.paused); new_strict := coalesce(p_strict, g.group_strict);
  if status is null then
    old_slots := g.slots; old_paused := g.paused; old_strict := g.group_strict;
    status := case when new_slots = old_slots and new_paused = old_paused and new_strict = old_strict then 'exists' else 'set' end;
  end if;
  insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, reason, changed_at)
  select d.task_definition_id, case v_scope when 0 then 'global_' else 'own_' end || c.setting, c.old_value || ' of ' || p_group_key, c.new_value || ' of ' || p_group_key, 'operator', p_changed_by, p_reason, v_now
    from (values ('group_slots', old_slots::text, new_slots::text, 1), ('group_paused', old_paused::text, new_paused::text, 2),
                 ('group_strict', old_strict::text, new_strict::text, 3)) c(setting, old_value, new_value, n)
   where c.old_value is distinct from c.new_value order by c.n;
  if status = 'set' then
    update task_group x set slots = new_slots, paused = new_paused, strict = new_strict where x.group_id = v_group;
    woken := _definition_names(_hand_over(array[0::bigint], array[v_group]), 0);   -- no task leaves: free slots are filled
  end if;
  select count(*) into used from group_slot s where s.group_id = v_group;
  select count(*) into waiting from (select 1 from group_waiting w where w.group_id = v_group limit 1000) x;
end $$;
