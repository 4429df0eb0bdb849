-- taskgate.read_free_tokens: how many tokens a worker that asks now could be granted, and whether a task waits for it. A caller that has
-- added tasks asks after its commit, before it wakes a worker. A call that frees tokens looks for ready tasks under its lock. So one of the two
-- sees the other: either the caller finds a token free, or that call finds the task.
-- In:     p_name; p_since_fence bigint: of an earlier answer, or null
-- Out:    status: read | unknown (no such definition); free: tokens, by the shared limits, too, up to 1000; those of a holder whose lease is
--         over count, and those reserved for others. 0 while paused. null: no limit, or not known, as another call is changing tokens, limit or pause
--         ready: tasks that are ready, or 1 for due ones, up to 100; 0 where `free` is 0 or null
--         crowded_out: others hold all tokens of a shared limit, and no live execution of this definition holds any. A worker that asks is
--         given one, so `free` is 1
--         grants: calls that granted tokens since that fence, up to 1000; token_fence: for the next call
-- Raises: -
-- Locks:  advisory 42 shared, by skip, to the end of this call
-- Isolation: each statement sees what is committed when it begins; what is decided by is read behind the lock
-- Plan:   unique name, primary keys; the definition's open executions where the count says that no token is free
-- Once:   a read
-- Twin:   mssql/sql/procedures/ReadFreeTokens.sql
create or replace function taskgate.read_free_tokens(
  p_name text, p_since_fence bigint default null,
  out status text, out free int, out ready int, out crowded_out boolean, out grants int, out token_fence bigint)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  d record;
  s record;
begin
  ready := 0; grants := 0; crowded_out := false;
  select x.task_definition_id into v_definition from task_definition x where x.name = p_name;
  status := case when found then 'read' else 'unknown' end;
  if status = 'unknown' or not pg_try_advisory_xact_lock_shared(42, v_definition) then return; end if;
  select x.paused, x.token_fence, coalesce(x.concurrency_limit_override, x.concurrency_limit) as task_limit, _held_tokens(x.execution_tokens) as held,
         _shared_ids(v_definition) as shared
    into d from task_definition x where x.task_definition_id = v_definition;
  token_fence := d.token_fence;
  grants := least(greatest(d.token_fence - p_since_fence, 0), 1000);   -- of a null the 0
  if d.paused then free := 0; return; end if;
  if d.task_limit = -1 and d.shared = '{}' then return; end if;
  free := 1000;
  if d.task_limit <> -1 then
    free := d.task_limit - d.held;
    if free <= 0 then
      free := free + (select coalesce(sum(e.token_count), 0) from task_execution e
                       where e.task_definition_id = v_definition and e.state = 1 and e.lease_until < v_now);
    end if;
    free := least(greatest(free, 0), 1000);
  end if;
  if d.shared <> '{}' and free > 0 then
    select min(greatest(u.task_limit - u.live, 0)) as free, min(u.task_limit) as least into s from _shared_use(v_definition, v_now) u where u.task_limit <> -1;
    if s.free = 0 and s.least > 0 and not exists (
      select 1 from task_execution e
       where e.task_definition_id = v_definition and e.state = 1 and e.lease_until >= v_now and e.token_count > 0) then
      s.free := 1;
      crowded_out := true;
    end if;
    free := least(free, s.free);
  end if;
  if free > 0 then
    ready := (select count(*) from (select 1 from taskgate.ready r where r.task_definition_id = v_definition limit 100) c);
    if ready = 0 and exists (select 1 from scheduled c where c.task_definition_id = v_definition and c.run_at <= v_now) then ready := 1; end if;
  end if;
end $$;
