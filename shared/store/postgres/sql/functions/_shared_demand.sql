-- taskgate._shared_demand: the denials by the shared limits of a definition, and the tokens given for them.
-- In:     p_task_definition_id int; p_lease_ms int: of the definition, or null: open_since isn't asked for; p_now timestamptz
-- Rows:   shared_limit_id: each that has a limit; open_since: as _open_demand, or null; reserved_ms: as _reserved_ms, or null
-- Raises: -
-- Locks:  none
-- Plan:   primary keys; one probe when there are none
-- Twin:   mssql/sql/functions/_SharedDemand.sql
create or replace function taskgate._shared_demand(p_task_definition_id int, p_lease_ms int, p_now timestamptz)
returns table (shared_limit_id int, open_since timestamptz, reserved_ms bigint)
language sql stable as $$
  select q.shared_limit_id,
         case when q.denied_at > p_now - p_lease_ms * interval '1 ms' and q.given_at < q.denied_at then q.denied_at end,
         case when q.given_at >= q.denied_at and r.lasts_ms > r.since_ms then r.lasts_ms - r.since_ms end
    from taskgate.task_definition_shared_limit l
    join taskgate.shared_limit s on s.shared_limit_id = l.shared_limit_id and coalesce(s.concurrency_limit_override, s.concurrency_limit) <> -1
    join taskgate.shared_token_demand q on q.shared_limit_id = s.shared_limit_id
   cross join lateral (select least(100 + floor(extract(epoch from q.given_at - q.denied_at) * 500), 2000)::bigint as lasts_ms,
                              (extract(epoch from p_now - q.given_at) * 1000)::bigint as since_ms) r
   where l.task_definition_id = p_task_definition_id
$$;
