-- taskgate._shared_room: how many more tokens a process may hold while some of a shared limit were given for others: no more
-- than its part, and where it holds some no more than the richest other one has.
-- In:     p_task_definition_id int; p_worker text: the process; p_now timestamptz
-- Out:    int, by that limit where it is least; null: nothing is reserved
-- Raises: -
-- Locks:  none: the caller holds the rows of shared_limit
-- Plan:   primary keys
-- Twin:   mssql/sql/functions/_SharedRoom.sql
create or replace function taskgate._shared_room(p_task_definition_id int, p_worker text, p_now timestamptz) returns int
language sql stable as $$
  select min(greatest(case when h.mine > 0 then least(p.part, h.richest) else p.part end - h.mine, 0))
    from taskgate._shared_demand(p_task_definition_id, null, p_now) q
    join taskgate._shared_shares(p_task_definition_id, p_worker) h on h.shared_limit_id = q.shared_limit_id
   cross join lateral (select (h.task_limit + h.others) / (h.others + 1) as part) p   -- rounded up
   where q.reserved_ms is not null
$$;
