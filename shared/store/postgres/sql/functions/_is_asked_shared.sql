-- taskgate._is_asked_shared: as _is_asked, for an execution denied by a limit that this definition shares.
-- In:     p_task_definition_id int; p_lease_ms int: of the definition; p_worker text: the process; p_now timestamptz
-- Out:    boolean
-- Raises: -
-- Locks:  none
-- Plan:   primary keys
-- Twin:   mssql/sql/functions/_IsAskedShared.sql
create or replace function taskgate._is_asked_shared(p_task_definition_id int, p_lease_ms int, p_worker text, p_now timestamptz) returns boolean
language plpgsql stable as $$
begin
  if not exists (select 1 from _shared_demand(p_task_definition_id, p_lease_ms, p_now) q where q.open_since is not null) then return false; end if;
  return exists (
    select 1 from _shared_demand(p_task_definition_id, p_lease_ms, p_now) q
      join _shared_shares(p_task_definition_id, p_worker) h on h.shared_limit_id = q.shared_limit_id
     where h.mine > 1 and (h.richest - h.mine < 2 and q.open_since is not null or q.open_since <= p_now - interval '2 seconds'));
end $$;
