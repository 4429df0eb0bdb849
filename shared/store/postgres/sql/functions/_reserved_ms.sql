-- taskgate._reserved_ms: how much longer tokens that were given for a denied execution are reserved for processes with few tokens: until
-- the denied one has asked again: for 0.1 s and half of the time from its denial to the gift, two seconds at most.
-- In:     p_task_definition_id int; p_now timestamptz
-- Out:    bigint; null: they aren't reserved. Null as well when a denial was noted since: all were held then
-- Raises: -
-- Locks:  none
-- Plan:   primary key of token_gift; of token_demand only when something was given within the last two seconds
-- Twin:   mssql/sql/functions/_Reserved.sql
create or replace function taskgate._reserved_ms(p_task_definition_id int, p_now timestamptz) returns bigint
language sql stable as $$
  select r.lasts_ms - r.since_ms
    from taskgate.token_gift g
    join taskgate.token_demand q on q.task_definition_id = g.task_definition_id and q.denied_at <= g.given_at
   cross join lateral (select least(100 + floor(extract(epoch from g.given_at - q.denied_at) * 500), 2000)::bigint as lasts_ms,
                              (extract(epoch from p_now - g.given_at) * 1000)::bigint as since_ms) r
   where g.task_definition_id = p_task_definition_id and g.given_at > p_now - interval '2 seconds' and r.lasts_ms > r.since_ms
$$;
