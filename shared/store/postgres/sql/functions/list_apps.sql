-- taskgate.list_apps: the apps with their definitions, and where their hints go.
-- In:     -
-- Out:    status: listed; apps: JSON array, by name, of {app, address: JSON object or null: not known, definitions: names, in order}, or []:
--           also an app that was given a definition and hasn't registered itself yet
-- Raises: -
-- Locks:  none
-- Plan:   both tables in the order of their keys: there are few rows
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListApps.sql
create or replace function taskgate.list_apps(out status text, out apps text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  status := 'listed';
  select coalesce('[' || string_agg(json_build_object('app', n.app, 'address', a.address::json, 'definitions', n.definitions)::text, ','
                                    order by n.app) || ']', '[]')
    into apps
    from (select x.app, coalesce(json_agg(x.name order by x.name) filter (where x.name is not null), '[]') as definitions
            from (select o.app, o.name from definition_owner o union all select y.name, null from app y) x
           group by x.app) n
    left join app a on a.name = n.app;
end $$;
