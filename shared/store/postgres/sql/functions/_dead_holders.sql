-- taskgate._dead_holders: those of the executions that hold tokens of one limit whose tokens are free, as they have ended or their
--         lease is over. An execution whose lease is over is declared dead.
-- In:     p_held boolean[], p_grantee bigint[]: the limit's tokens, whose row is the caller's; p_task_execution_id bigint: the asker, not
--         looked at; p_now: read after the wait for that row
-- Out:    bigint[]: the ids, null when all are alive
-- Raises: -
-- Locks:  task_execution of those whose lease is over, ascending, by skip
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_DeadHolders.sql (there the caller lists the holders)
create or replace function taskgate._dead_holders(
  p_held boolean[], p_grantee bigint[], p_task_execution_id bigint, p_now timestamptz) returns bigint[]
language plpgsql as $$
declare
  v_dead bigint[];
begin
  select array_agg(x.grantee) into v_dead from (
    select distinct u.g as grantee from unnest(p_held, p_grantee) u(h, g) where u.h and u.g <> p_task_execution_id) x
   where not exists (select 1 from task_execution e
                      where e.task_execution_id = x.grantee and e.state = 1 and e.lease_until >= p_now);
  if v_dead is null then return null; end if;
  -- A plain read found them; now by key, tested again. A row locked by its own worker is alive at this instant: skipped.
  update task_execution
     set state = 3, ended_at = coalesce(ended_at, p_now), token_count = 0,
         held_ms = held_ms + (token_count * extract(epoch from p_now - coalesce(tokens_at, started_at)) * 1000)::bigint, tokens_at = p_now
   where task_execution_id = any (array(
     select e.task_execution_id from task_execution e
      where e.task_execution_id = any (v_dead) and e.state = 1 and e.lease_until < p_now
      order by e.task_execution_id for no key update skip locked));
  return (select array_agg(x.id) from unnest(v_dead) x(id)
           where not exists (select 1 from task_execution e where e.task_execution_id = x.id and e.state = 1));
end $$;
