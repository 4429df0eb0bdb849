-- taskgate.start_execution: opens an execution of a worker for one definition, with its first tokens. No token: no execution.
-- In:     p_name; p_operation_id uuid: a repeat answers the first call's execution; p_worker 1..200 characters;
--         p_build, p_settings_hash: of the asking code, null hash: don't compare; p_want int 1..1000 tokens;
--         p_needs_ready: answer `none` at once when no task is ready or due, and ask for no more tokens than tasks wait.
--           false: the grant is the start itself, so it takes a permit of the rate, too (with_tokens); claims take theirs in work
-- Out:    status: started | limited | paused | none | unknown (register first) | outdated (register, then ask again);
--         task_execution_id; lease_ms: how long from now; tokens: granted; token_fence; prefetch_max; ready: tasks ready,
--         counted up to p_want; retry_in_ms: when limited, by tokens or by the rate; next_due_ms: until the next scheduled task, when none;
--         dead_holders: call reclaim_expired when > 0; demand: noted: holders were asked for a token: retry soon
--           | others: the free tokens were given for others, and this worker holds some: hand the hint on | null
-- Raises: TG422 want or worker out of range; TG409 the operation id belongs to another definition's execution
-- Locks:  task_execution (own new row), shared_limit, task_definition, task_execution (dead holders, by skip),
--         rate_bucket by skip; token_demand, shared_token_demand by skip
-- Plan:   unique name, primary keys; a denial is one read without lock; it writes at most once a second per limit
-- Once:   by operation id
-- Twin:   mssql/sql/procedures/StartExecution.sql
create or replace function taskgate.start_execution(
  p_name text, p_operation_id uuid, p_worker text, p_build bigint, p_settings_hash text, p_want int, p_needs_ready boolean,
  out status text, out task_execution_id bigint, out lease_ms int, out tokens int, out token_fence bigint, out prefetch_max smallint,
  out ready int, out retry_in_ms bigint, out next_due_ms bigint, out dead_holders int, out demand text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan set lock_timeout = '2s'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_now timestamptz := _now();                       -- before any wait: a late grant has a shorter lease, never a longer one
  d record;
  e record;
  s record;
  v_permits record;
  v_mine int;
begin
  if p_want is null or p_want not between 1 and 1000 then
    raise exception 'want: expected 1..1000 (%)', p_want using errcode = 'TG422';
  end if;
  if p_worker is null or char_length(p_worker) not between 1 and 200 then
    raise exception 'worker: expected 1..200 characters (%)', left(p_worker, 220) using errcode = 'TG422';
  end if;
  tokens := 0; ready := 0; dead_holders := 0;
  select x.task_definition_id, x.build, x.settings_hash, x.lease_ms, x.prefetch_max, x.token_fence,
         _shared_ids(x.task_definition_id) as shared,
         not p_needs_ready and exists (select 1 from rate_bucket b where b.task_definition_id = x.task_definition_id) as has_rate
    into d from task_definition x where x.name = p_name;
  if not found then status := 'unknown'; return; end if;
  if d.build < p_build or (d.build = p_build and d.settings_hash <> p_settings_hash) then
    if p_settings_hash is not null then status := 'outdated'; return; end if;
  end if;
  lease_ms := d.lease_ms; prefetch_max := d.prefetch_max;

  select x.task_execution_id, x.task_definition_id, x.token_count into e from task_execution x where x.operation_id = p_operation_id;
  if not found then
    select count(*) into ready from (select 1 from taskgate.ready r where r.task_definition_id = d.task_definition_id limit p_want) c;
    if p_needs_ready and ready < p_want then
      ready := ready + (select count(*) from (select 1 from scheduled c where c.task_definition_id = d.task_definition_id and c.run_at <= v_now limit p_want - ready) c);
      if ready = 0 then
        status := 'none'; next_due_ms := _next_due_ms(d.task_definition_id); return;
      end if;
    end if;
    select * into s from _deny_early(d.task_definition_id, p_worker);
    if s.o_status is not null then
      status := s.o_status; retry_in_ms := s.o_retry_in_ms; demand := s.o_demand;
      -- A process that holds some is no newcomer: what it got would come from itself.
      if status = 'limited' and s.o_mine = 0 then
        if _note_demand(d.task_definition_id, p_worker, d.shared) then demand := 'noted'; end if;
      end if;
      return;
    end if;
    v_mine := s.o_mine;
    insert into task_execution as x (operation_id, task_definition_id, state, started_at, lease_until, worker, build)
    values (p_operation_id, d.task_definition_id, 1, v_now, v_now + d.lease_ms * interval '1 ms', p_worker, coalesce(p_build, 0))
    on conflict (operation_id) do nothing returning x.task_execution_id into task_execution_id;
    if not found then                                -- the first attempt was still running: its answer
      select x.task_execution_id, x.task_definition_id, x.token_count into e from task_execution x where x.operation_id = p_operation_id;
    end if;
  end if;
  if e.task_execution_id is not null then            -- a repeat: the first answer, with the lease renewed from now, as it says
    if e.task_definition_id <> d.task_definition_id then
      raise exception 'operation_id: belongs to an execution of another definition (%)', p_operation_id using errcode = 'TG409';
    end if;
    update task_execution x set lease_until = greatest(x.lease_until, v_now + d.lease_ms * interval '1 ms')   -- a heartbeat may have come between
     where x.task_execution_id = e.task_execution_id and x.state = 1 returning x.token_count into tokens;
    status := case when found and tokens > 0 then 'started' else 'limited' end;
    tokens := coalesce(tokens, 0);
    if status = 'started' then
      task_execution_id := e.task_execution_id; ready := 1;
      -- Its grant may have come after the first look.
      select x.token_fence into start_execution.token_fence from task_definition x where x.task_definition_id = d.task_definition_id;
    end if;
    return;
  end if;

  if d.shared <> '{}' then perform _lock_shared(d.shared); end if;
  select * into s from _settle_tokens(d.task_definition_id, start_execution.task_execution_id,
                                      case when p_needs_ready then least(p_want, ready) else p_want end, null, null, d.shared);
  tokens := s.o_own; token_fence := s.o_token_fence; dead_holders := s.o_dead;
  if s.o_own > 0 and d.has_rate then
    select * into v_permits from _count_permits(d.task_definition_id, 1);
    if v_permits.o_allowed = 0 then                          -- no start: the tokens go back as if they had never been granted
      perform _settle_tokens(d.task_definition_id, start_execution.task_execution_id, null, 0, null, d.shared);
      delete from task_execution x where x.task_execution_id = start_execution.task_execution_id;
      status := 'limited'; task_execution_id := null; tokens := 0; token_fence := null; retry_in_ms := v_permits.o_retry_in_ms;
      return;
    end if;
    perform _use_permits(d.task_definition_id, 1, v_permits.o_from, v_permits.o_interval_us);
  end if;
  if s.o_own > 0 then status := 'started'; return; end if;
  delete from task_execution x where x.task_execution_id = start_execution.task_execution_id;
  task_execution_id := null;
  status := case when s.o_paused then 'paused' else 'limited' end;
  retry_in_ms := _retry_in_ms(d.task_definition_id);
  if status = 'limited' and v_mine = 0 then
    if _note_demand(d.task_definition_id, p_worker, d.shared) then demand := 'noted'; end if;
  end if;
end $$;
