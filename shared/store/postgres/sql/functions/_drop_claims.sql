-- taskgate._drop_claims: takes tasks out of an execution's claims, and counts how they ended; the caller holds the execution's row.
-- In:     p_task_execution_id bigint; p_task_ids bigint[]; p_done int, p_ran_ms bigint: that many ended well, having run so long in all;
--         p_failed, p_dead int: attempts that failed, and tasks that are dead now
-- Out:    -
-- Raises: -
-- Locks:  task_execution (held by the caller)
-- Plan:   primary key
-- Twin:   none: there a claim is a row of its own
create or replace function taskgate._drop_claims(
  p_task_execution_id bigint, p_task_ids bigint[], p_done int, p_ran_ms bigint, p_failed int, p_dead int) returns void
language sql as $$
  update taskgate.task_execution e
     set inflight = array(select u.id from unnest(e.inflight) with ordinality u(id, n) where u.id not in (select unnest(p_task_ids)) order by u.n),
         inflight_fence = array(select u.f from unnest(e.inflight, e.inflight_fence) with ordinality u(id, f, n) where u.id not in (select unnest(p_task_ids)) order by u.n),
         inflight_at = array(select u.at from unnest(e.inflight, e.inflight_at) with ordinality u(id, at, n) where u.id not in (select unnest(p_task_ids)) order by u.n),
         prefetched = array(select u.id from unnest(e.prefetched) with ordinality u(id, n) where u.id not in (select unnest(p_task_ids)) order by u.n),
         is_solo = e.is_solo and not e.inflight <@ p_task_ids,
         done_count = e.done_count + p_done, ran_ms = e.ran_ms + p_ran_ms, failed_count = e.failed_count + p_failed, dead_count = e.dead_count + p_dead
   where e.task_execution_id = p_task_execution_id
$$;
