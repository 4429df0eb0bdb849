-- taskgate.register_app: an app says which definitions are its own and where its hints go. What belongs to another app stays so.
-- In:     p_app 1..200 characters without leading or trailing blanks; p_definitions: JSON array of at most 1000 names of definitions, which
--         may be registered later; p_address: JSON object of at most 2000 characters, or null: not known
-- Out:    status: registered (something is new) | exists; refused: JSON array, by name, of {name, app: its owner}: of p_definitions those
--           that belong to other apps
-- Raises: TG422 a value out of range
-- Locks:  app, then definition_owner by name: waits for a registration of the same app or name
-- Plan:   primary keys
-- Once:   by value
-- Twin:   mssql/sql/procedures/RegisterApp.sql
create or replace function taskgate.register_app(
  p_app text, p_definitions text, p_address text default null, out status text, out refused text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_problem text := _app_problem(p_app);
begin
  if v_problem is null then
    v_problem := case
      when not _is_json_list(p_definitions)
        then 'definitions: expected a JSON array of names (' || coalesce(left(p_definitions, 160), 'null') || ')'
      when json_array_length(p_definitions::json) > 1000
        then 'definitions: expected at most 1000 names (' || json_array_length(p_definitions::json) || ')'
      when exists (select 1 from json_array_elements(p_definitions::json) j(value)
                    where json_typeof(j.value) <> 'string' or char_length(j.value #>> '{}') not between 1 and 200
                       or j.value #>> '{}' <> btrim(j.value #>> '{}'))
        then 'definitions: expected names of 1..200 characters without blanks at either end (' || left(p_definitions, 160) || ')'
      when p_address is not null and (not _is_json(p_address) or left(ltrim(p_address, E' \t\r\n'), 1) <> '{' or char_length(p_address) > 2000)
        then 'address: expected a JSON object of at most 2000 characters (' || left(p_address, 160) || ')' end;
  end if;
  if v_problem is not null then raise exception '%', v_problem using errcode = 'TG422'; end if;
  status := 'exists';
  insert into app as x (name, address, registered_at) values (p_app, p_address, v_now)
  on conflict (name) do update set address = excluded.address, registered_at = excluded.registered_at
   where x.address is distinct from excluded.address;
  if found then status := 'registered'; end if;
  insert into definition_owner (name, app)
  select distinct n.name collate "C", p_app from json_array_elements_text(p_definitions::json) n(name) order by 1
  on conflict (name) do nothing;
  if found then status := 'registered'; end if;
  select coalesce('[' || string_agg(json_build_object('name', o.name, 'app', o.app)::text, ',' order by o.name) || ']', '[]') into refused
    from (select distinct j.name collate "C" as name from json_array_elements_text(p_definitions::json) j(name)) n
    join definition_owner o on o.name = n.name
   where o.app <> p_app;
end $$;
