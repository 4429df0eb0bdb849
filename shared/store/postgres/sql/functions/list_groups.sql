-- taskgate.list_groups: groups with their slots and the tasks that wait: first groups with waiting tasks, as far as they are among the 1000 oldest of these (with a definition: of its own), both by definition as registered, then key, global ones first.
-- In:     p_name: the definition, or null for all and the global ones; p_group_key: only this key, or null; p_max int 1..1000
-- Out:    status: listed; groups: JSON array of {definition: null of a global group, key, slots, used, waiting (counted up to 1000),
--           paused, strict}
-- Raises: TG404 unknown definition; TG422 max out of range
-- Locks:  none
-- Plan:   one probe of pk_group_waiting, with a definition of ix_group_waiting_definition, per group with waiting tasks, at most 1000; uq_task_group_key in its order, with a definition only its part;
--         the slots and the first waiters of each group
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListGroups.sql
create or replace function taskgate.list_groups(p_name text, p_group_key text, p_max int, out status text, out groups text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_definition int;
  v_first int[];
begin
  perform _check_range('max', p_max, 1, 1000);
  if p_name is not null then v_definition := _find_definition(p_name); end if;
  status := 'listed';
  if p_name is null then
    v_first := array(
      with recursive w(group_id, n) as (             -- from one group with waiters to the next
        (select x.group_id, 1 from group_waiting x order by x.group_id limit 1)
        union all
        select (select x.group_id from group_waiting x where x.group_id > w.group_id order by x.group_id limit 1), w.n + 1
          from w where w.group_id is not null and w.n < 1000)
      select w.group_id from w where w.group_id is not null);
  else
    v_first := array(
      with recursive w(group_id, n) as (
        (select x.group_id, 1 from group_waiting x where x.task_definition_id = v_definition order by x.group_id limit 1)
        union all
        select (select x.group_id from group_waiting x where x.task_definition_id = v_definition and x.group_id > w.group_id order by x.group_id limit 1), w.n + 1
          from w where w.group_id is not null and w.n < 1000)
      select w.group_id from w where w.group_id is not null);
  end if;
  select coalesce('[' || string_agg(json_build_object(
           'definition', (select d.name from task_definition d where d.task_definition_id = g.task_definition_id), 'key', g.group_key,
           'slots', g.slots, 'used', (select count(*) from group_slot s where s.group_id = g.group_id),
           'waiting', (select count(*) from (select 1 from group_waiting w where w.group_id = g.group_id limit 1000) x),
           'paused', g.paused, 'strict', g.strict)::text, ',' order by g.is_idle, g.task_definition_id, g.group_key) || ']', '[]')
    into groups
    from (
      select y.* from (
        (select x.*, false as is_idle from unnest(v_first) u(id)
          cross join lateral (select y.* from task_group y where y.group_id = u.id order by y.group_id limit 1) x
          where (p_name is null or x.task_definition_id = v_definition) and (p_group_key is null or x.group_key = p_group_key)
          order by x.task_definition_id, x.group_key limit p_max)
        union all                                     -- the rest: one of the three, each by as much of the key as is given
        (select x.*, true from task_group x
          where p_name is not null and p_group_key is not null and x.task_definition_id = v_definition and x.group_key = p_group_key
            and x.group_id <> all (v_first))
        union all
        (select x.*, true from task_group x
          where p_name is not null and p_group_key is null and x.task_definition_id = v_definition
            and x.group_id <> all (v_first) order by x.group_key limit p_max)
        union all
        (select x.*, true from task_group x
          where p_name is null and (p_group_key is null or x.group_key = p_group_key)
            and x.group_id <> all (v_first)
          order by x.task_definition_id, x.group_key limit p_max)) y
       order by y.is_idle, y.task_definition_id, y.group_key limit p_max) g;
end $$;
