-- taskgate._deny_early: is it certain, by plain reads, that no token can be granted to an execution, whatever it holds already?
-- In:     p_task_definition_id int; p_worker text: the name of the asking process
-- Out:    o_status: paused | limited | null (go and lock); o_retry_in_ms: as of _retry_in_ms
--         o_demand: others: free tokens are reserved for others (_reserved_ms, _shared_demand), and this worker holds tokens already
--         o_mine: tokens that live executions of this worker hold; without an own limit: that shared ones count, also of the dead
-- Raises: -
-- Locks:  none: a token freed at this moment would have been missed by asking a microsecond earlier
-- Plan:   primary key of task_definition, then of its holders' executions; the same for its shared limits; of token_gift and
--         token_demand, shared_token_demand for a worker that holds some
-- Twin:   mssql/sql/procedures/_DenyEarly.sql
create or replace function taskgate._deny_early(
  p_task_definition_id int, p_worker text, out o_status text, out o_retry_in_ms bigint, out o_demand text, out o_mine int)
language plpgsql stable as $$
declare
  d record;
  v_now timestamptz := _now();
  v_live int;
  v_reserved_ms bigint;
begin
  o_mine := 0;
  select x.paused, x.execution_tokens, coalesce(x.concurrency_limit_override, x.concurrency_limit) as task_limit,
         _shared_ids(x.task_definition_id) as shared into d
    from task_definition x where x.task_definition_id = p_task_definition_id;
  if d.paused then o_status := 'paused'; return; end if;
  if not _tokens_are_sound(d.execution_tokens) then return; end if;   -- damage is said under the lock
  select count(*), min(extract(epoch from e.lease_until - v_now) * 1000)::bigint + 1, count(*) filter (where e.worker = p_worker)
    into v_live, o_retry_in_ms, o_mine
    from _read_tokens(d.execution_tokens) t
   cross join lateral (                              -- offset: by key in every plan
     select x.worker, x.lease_until from task_execution x
      where x.task_execution_id = t.grantee and x.state = 1 and x.lease_until >= v_now offset 0) e
   where t.is_held;
  if d.task_limit = -1 and d.shared <> '{}' and p_worker is not null then     -- the shared ones count what its own string doesn't
    select coalesce(max(h.mine), 0) into o_mine from _shared_shares(p_task_definition_id, p_worker) h;
  end if;
  if d.task_limit <> -1 and v_live >= d.task_limit then o_status := 'limited'; return; end if;
  if d.shared <> '{}' and exists (select 1 from _shared_use(p_task_definition_id, v_now) u where u.task_limit <> -1 and u.live >= u.task_limit) then
    o_status := 'limited';
    select max(u.retry_in_ms) into o_retry_in_ms from _shared_use(p_task_definition_id, v_now) u where u.task_limit <> -1 and u.live >= u.task_limit;
    return;
  end if;
  if o_mine > 0 then
    v_reserved_ms := _reserved_ms(p_task_definition_id, v_now);
    if d.shared <> '{}' then
      select greatest(v_reserved_ms, max(q.reserved_ms)) into v_reserved_ms from _shared_demand(p_task_definition_id, null, v_now) q;
    end if;
    if v_reserved_ms is not null then
      o_status := 'limited'; o_demand := 'others'; o_retry_in_ms := v_reserved_ms;
    end if;
  end if;
end $$;
