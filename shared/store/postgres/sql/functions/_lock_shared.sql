-- taskgate._lock_shared: locks rows of shared limits until the end of the transaction, before any definition's.
-- In:     p_shared int[]: ids
-- Out:    -
-- Raises: -
-- Locks:  shared_limit ascending (advisory 45 in front, for arrival order)
-- Plan:   primary key
-- Twin:   mssql/sql/procedures/_LockShared.sql
create or replace function taskgate._lock_shared(p_shared int[]) returns void
language plpgsql as $$
declare
  v_id int;
begin
  for v_id in select u.id from unnest(p_shared) u(id) order by u.id loop
    perform pg_advisory_xact_lock(45, v_id);
    perform 1 from shared_limit s where s.shared_limit_id = v_id for no key update;
  end loop;
end $$;
