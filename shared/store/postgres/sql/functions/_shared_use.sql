-- taskgate._shared_use: how far the shared limits of a definition are used, as of the last commit.
-- In:     p_task_definition_id int; p_now timestamptz
-- Rows:   shared_limit_id, name, task_limit (-1 none), source: code | operator; held: tokens in the string, also of the dead;
--         live: of them held by live executions; retry_in_ms: until the first of these leases ends, or null; ascending ids
-- Raises: -
-- Locks:  none
-- Plan:   primary keys; one probe when there are none
-- Twin:   mssql/sql/functions/_SharedUse.sql
create or replace function taskgate._shared_use(p_task_definition_id int, p_now timestamptz)
returns table (shared_limit_id int, name text, task_limit int, source text, held int, live int, retry_in_ms bigint)
language sql stable as $$
  select s.shared_limit_id, s.name, coalesce(s.concurrency_limit_override, s.concurrency_limit),
         case when s.concurrency_limit_override is null then 'code' else 'operator' end,
         _held_tokens(s.execution_tokens), u.live, u.retry_in_ms
    from taskgate.task_definition_shared_limit l
    join taskgate.shared_limit s on s.shared_limit_id = l.shared_limit_id
   cross join lateral (
     select count(*)::int as live, min(extract(epoch from e.lease_until - p_now) * 1000)::bigint + 1 as retry_in_ms
       from taskgate._read_tokens(case when taskgate._tokens_are_sound(s.execution_tokens) then s.execution_tokens else '' end) t
      cross join lateral (
        select x.lease_until from taskgate.task_execution x where x.task_execution_id = t.grantee and x.state = 1 and x.lease_until >= p_now offset 0) e   -- offset: a probe each
      where t.is_held) u
   where l.task_definition_id = p_task_definition_id
   order by s.shared_limit_id
$$;
