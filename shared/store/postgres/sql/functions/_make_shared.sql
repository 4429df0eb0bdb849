-- taskgate._make_shared: the shared limits of some names; those that don't exist are made, with a limit of 1.
-- In:     p_names text[]
-- Out:    int[]: their ids, ascending
-- Raises: -
-- Locks:  shared_limit, shared_token_demand (own new rows): waits for another call that makes one of the same name
-- Plan:   unique name
-- Twin:   mssql/sql/procedures/_MakeShared.sql
create or replace function taskgate._make_shared(p_names text[]) returns int[]
language plpgsql as $$
begin
  with made as (
    insert into shared_limit (name)
    select u.name from unnest(p_names) u(name)
     where not exists (select 1 from shared_limit s where s.name = u.name) order by u.name
    on conflict (name) do nothing returning shared_limit_id)
  insert into shared_token_demand (shared_limit_id, denied_at, given_at)
  select m.shared_limit_id, '2000-01-01 00:00:00+00', '2000-01-01 00:00:00+00' from made m;
  return array(select s.shared_limit_id from shared_limit s where s.name = any (p_names) order by s.shared_limit_id);
end $$;
