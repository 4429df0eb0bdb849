-- taskgate._shared_gift: how many tokens a process should give for those who were denied by limits that its definition shares: by
-- the same rule as in _settle_tokens, of each of them. Calls of functions without tasks give their last one, too, where no process
-- holds more: they take turns.
-- In:     p_task_definition_id int; p_lease_ms int: of the definition; p_worker text: the process; p_now timestamptz
-- Out:    o_gift int: the most that one of them asks for, below 1: enough are free; o_shared int[]: those that ask; null both: none does
-- Raises: -
-- Locks:  none: the caller holds the rows of shared_limit
-- Plan:   primary keys
-- Twin:   mssql/sql/functions/_SharedGift.sql
create or replace function taskgate._shared_gift(
  p_task_definition_id int, p_lease_ms int, p_worker text, p_now timestamptz, out o_gift int, out o_shared int[])
language sql stable as $$
  select max(least(case when h.mine = 1 and h.richest = 1 and c.is_calls then 1 else (h.mine - x.poorest) / 2 end, (h.task_limit + y.parties - 1) / y.parties - x.poorest) - (h.task_limit - h.held)),
         array_agg(q.shared_limit_id)
    from taskgate._shared_demand(p_task_definition_id, p_lease_ms, p_now) q
    join taskgate._shared_shares(p_task_definition_id, p_worker) h on h.shared_limit_id = q.shared_limit_id
   cross join (select starts_with(d.name, 'calls:') as is_calls from taskgate.task_definition d where d.task_definition_id = p_task_definition_id) c
   cross join lateral (select case when h.mine - h.poorest < 2 then 0 else h.poorest end as poorest) x
   cross join lateral (select h.others + case x.poorest when 0 then 2 else 1 end as parties) y
   where q.open_since is not null and (h.richest - h.mine < 2 or q.open_since <= p_now - interval '2 seconds')
$$;
