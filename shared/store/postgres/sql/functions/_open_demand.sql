-- taskgate._open_demand: was a token denied within the last lease, and has none been given back for that denial yet?
-- In:     p_task_definition_id int; p_lease_ms int: of the definition; p_now timestamptz
-- Out:    timestamptz: when; null: none was
-- Raises: -
-- Locks:  none
-- Plan:   primary key of token_demand; of token_gift only when the demand is fresh
-- Twin:   mssql/sql/functions/_OpenDemand.sql
create or replace function taskgate._open_demand(p_task_definition_id int, p_lease_ms int, p_now timestamptz) returns timestamptz
language sql stable as $$
  select q.denied_at from taskgate.token_demand q
   where q.task_definition_id = p_task_definition_id and q.denied_at > p_now - p_lease_ms * interval '1 ms'
     and not exists (select 1 from taskgate.token_gift g where g.task_definition_id = q.task_definition_id and g.given_at >= q.denied_at)
$$;
