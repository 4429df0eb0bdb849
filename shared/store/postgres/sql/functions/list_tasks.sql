-- taskgate.list_tasks: tasks of a definition in one state, all of them or those that filters leave.
-- In:     p_name; p_state: ready | scheduled | waiting | claimed | done | dead | cancelled; p_max int 1..1000; p_after: `next` of the
--           page before, or null: from the beginning. Filters, null: none: p_key: the dedupe key, of ready, scheduled and waiting tasks
--           of that one alone which holds it; p_key_prefix: how the dedupe key begins; p_group_key: the group, which done tasks don't
--           name; p_batch_id; p_created_since, p_created_before, p_finished_since, p_finished_before: ISO-8601 instants, the second of
--           each pair excluded; p_path: names joined by dots, p_value: the payload's text, number, true, false or null there, as
--           _payload_has; p_look_max int 1..5000: with filters so many tasks are looked at; with a path no task behind the first 4 MiB of payloads
-- Out:    status: listed; tasks: JSON array of {task, kind, priority, state: p_state, or of a claimed one running | prefetched | lost (its worker's
--           lease is over), createdAt, dueAt, claimedAt, finishedAt, failedCount, lostCount, error, worker}: unfinished ones in the order
--           they will be taken, claimed ones in that of the states above, finished ones newest first; looked_at int: tasks of the state
--           that were looked at; next: where the next page begins, or null: this is the last; where there is one, last_task: the last
--           task that was looked at, last_at: when it ended or is due. No task comes twice, and none that stays where it is is left
--           out; a claimed one moves when its state changes
-- Raises: TG404 unknown definition; TG422 unknown state, max or look_max out of range, a filter or a place that can't be read
-- Locks:  none
-- Plan:   the container's key under the definition, ix_group_waiting_definition, ix_archive_finished and ix_archive_pack_finished
--           backwards, each from the page's place on; then one seek per task. A key by pk_dedupe. No sort of a
--           whole state (enable_sort), which a plan made beside empty tables prefers before version 17
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListTasks.sql
create or replace function taskgate.list_tasks(
  p_name text, p_state text, p_max int, p_after text default null, p_key text default null, p_key_prefix text default null,
  p_group_key text default null, p_batch_id bigint default null, p_created_since text default null, p_created_before text default null,
  p_finished_since text default null, p_finished_before text default null, p_path text default null, p_value text default null,
  p_look_max int default 5000, out status text, out tasks text, out looked_at int, out next text,
  out last_task bigint, out last_at text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  v_now timestamptz := _now();
  v_definition int;
  v_outcome smallint;
  v_is_search boolean := num_nonnulls(p_key, p_key_prefix, p_group_key, p_batch_id, p_created_since, p_created_before, p_finished_since,
                                      p_finished_before, p_path) > 0;
  v_created_since timestamptz := coalesce(_instant(p_created_since), '-infinity');
  v_created_before timestamptz := coalesce(_instant(p_created_before), 'infinity');
  v_finished_since timestamptz := coalesce(_instant(p_finished_since), '-infinity');
  v_finished_before timestamptz := coalesce(_instant(p_finished_before), 'infinity');
  v_is_holder boolean := p_key is not null and p_state in ('ready', 'scheduled', 'waiting');
  v_look int;
  v_bytes constant int := 4194304;                   -- a search reads them as JSON: some tenths of a second
  v_groups int[];
  v_waves bigint[];
  v_steps text[];
  -- Where the page begins: behind this entry.
  v_at timestamptz;
  v_group int := 0;
  v_group_last int := 2147483647;
  v_priority smallint := -32768;
  v_rank bigint := -9223372036854775808;
  v_task bigint := 0;
  v_standing int := 0;
  v_execution bigint := 0;
begin
  perform _check_range('max', p_max, 1, 1000);
  if p_state is null or p_state not in ('ready', 'scheduled', 'waiting', 'claimed', 'done', 'dead', 'cancelled') then
    raise exception 'state: expected ready, scheduled, waiting, claimed, done, dead or cancelled (%)', left(p_state, 220) using errcode = 'TG422';
  end if;
  perform _check_range('look_max', p_look_max, 1, 5000);
  perform _check_filters(p_key, p_key_prefix, p_group_key, p_created_since, p_created_before, p_finished_since, p_finished_before, p_path, p_value);
  v_definition := _find_definition(p_name);
  status := 'listed';
  v_outcome := case p_state when 'done' then 10 when 'dead' then 11 when 'cancelled' then 12 end;
  v_look := case when v_is_search then p_look_max else p_max end;

  -- 1. The place.
  v_at := case when v_outcome is null then '-infinity'::timestamptz else 'infinity' end;
  if p_after is not null then
    begin
      v_steps := array(select j.step from json_array_elements_text(p_after::json) with ordinality j(step, n) order by j.n);
      if array_position(v_steps, null) is null then
        v_task := v_steps[1]::bigint;
        if p_state in ('ready', 'waiting') then
          v_rank := v_steps[2]::bigint;
          v_priority := v_steps[3]::smallint;
          v_group := v_steps[4]::int;
        elsif p_state = 'claimed' then
          v_execution := v_steps[2]::bigint;
          v_standing := v_steps[3]::int;
        else
          v_at := v_steps[2]::timestamptz;
        end if;
      end if;
    exception when data_exception then
      v_steps := null;
    end;
    if coalesce(cardinality(v_steps), 0) <> (case p_state when 'ready' then 3 when 'waiting' then 4 when 'claimed' then 3 else 2 end)
       or array_position(v_steps, null) is not null then
      raise exception 'after: expected `next` of the page before, as it is (%)', left(p_after, 220) using errcode = 'TG422';
    end if;
  end if;

  -- 2. What the filters are about.
  tasks := '[]';
  looked_at := 0;
  -- No unfinished task has ended, and no done one names its group.
  if v_outcome is null and (p_finished_since is not null or p_finished_before is not null) or v_outcome = 10 and p_group_key is not null then return; end if;
  if p_batch_id is not null then v_waves := array(select w.wave_id from wave w where w.batch_id = p_batch_id); end if;
  if p_group_key is not null then
    v_groups := array(select g.group_id from task_group g where g.task_definition_id in (v_definition, 0) and g.group_key = p_group_key order by g.group_id);
    if p_state = 'waiting' then
      if cardinality(v_groups) = 0 then return; end if;
      v_group_last := v_groups[cardinality(v_groups)];
      if p_after is null then v_group := v_groups[1]; end if;
    end if;
  end if;
  if v_is_holder then
    -- The one task that holds the key: behind the entry that would stand before it.
    select x.task_id - 1, x.priority, x.rank, coalesce(x.group_id, 0), coalesce((select s.run_at from scheduled s where s.task_id = x.task_id limit 1), 'infinity')
      into v_task, v_priority, v_rank, v_group, v_at
      from dedupe k join task x on x.task_id = k.task_id
     where k.task_definition_id = v_definition and k.dedupe_key = p_key;
    if not found then return; end if;
    v_look := 1;
  end if;

  -- 3. The entries, in order, one more than is looked at; those of them that the filters leave.
  if v_outcome is not null then
    with looked as materialized (
      select x.*, row_number() over (order by x.finished_at desc, x.task_id desc) as n
        from (select * from (
                (select x.task_id, x.kind, x.priority, x.created_at, x.finished_at, x.failed_count, x.lost_count, x.error, x.task_execution_id,
                        x.dedupe_key, x.group_id, x.wave_id, case when p_path is not null then x.payload end as payload
                   from archive x
                  where x.task_definition_id = v_definition and x.outcome = v_outcome
                    and x.finished_at <= v_at and x.finished_at < v_finished_before and x.finished_at >= v_finished_since
                    and (x.finished_at < v_at or x.task_id < v_task)
                  order by x.finished_at desc, x.task_id desc limit v_look + 1)
                union all                            -- the newest packs, as many as are needed
                (select u.task_id, k.kind, k.priority, u.created_at, k.finished_at, 0, 0, null, k.task_execution_id, u.dedupe_key, null, k.wave_id, u.payload
                   from archive_pack k
                  cross join lateral unnest(k.task_ids, k.created_ats, case when v_is_search then k.dedupe_keys end, case when p_path is not null then k.payloads end)
                                     u(task_id, created_at, dedupe_key, payload)
                  where v_outcome = 10 and k.task_definition_id = v_definition
                    and k.finished_at <= v_at and k.finished_at < v_finished_before and k.finished_at >= v_finished_since
                    and (k.finished_at < v_at or u.task_id < v_task)
                  order by k.finished_at desc, u.task_id desc limit v_look + 1)) y
               order by y.finished_at desc, y.task_id desc limit v_look + 1) x),
    read as materialized (
      select x.*, coalesce(sum(octet_length(x.payload)) over (order by x.n rows between unbounded preceding and 1 preceding), 0) as bytes_before
        from looked x where x.n <= v_look),
    hits as materialized (
      select x.* from read x
       where x.bytes_before < v_bytes and x.created_at >= v_created_since and x.created_at < v_created_before
         and (p_key is null or x.dedupe_key = p_key) and (p_key_prefix is null or starts_with(x.dedupe_key, p_key_prefix))
         and (p_batch_id is null or x.wave_id = any (v_waves))
         and (p_group_key is null or x.group_id = any (v_groups)   -- or it ended before it came into its group
              or exists (select 1 from ended_early y where y.task_id = x.task_id and y.pending_group_key = p_group_key))
         and (p_path is null or _payload_has(x.payload, p_path, p_value))
       order by x.n limit p_max),
    cut as (select case count(*) when p_max then max(x.n) else (select count(*) from read y where y.bytes_before < v_bytes) end as n from hits x)
    select coalesce('[' || (select string_agg(json_build_object(
             'task', a.task_id::text, 'kind', a.kind, 'priority', a.priority, 'state', p_state, 'createdAt', _iso(a.created_at), 'finishedAt', _iso(a.finished_at),
             'failedCount', a.failed_count, 'lostCount', a.lost_count, 'error', a.error, 'worker', e.worker)::text, ',' order by a.n)
             from hits a left join task_execution e on e.task_execution_id = a.task_execution_id) || ']', '[]'), c.n,
           format('["%s","%s"]', l.task_id, to_char(l.finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')), l.task_id, _iso(l.finished_at)
      into tasks, looked_at, next, last_task, last_at
      from cut c
      left join looked l on l.n = c.n and exists (select 1 from looked m where m.n = c.n + 1);
    if last_task is null then next := null; end if;   -- the last page
    return;
  end if;
  with looked as materialized (
    select c.*, row_number() over () as n from (
      (select r.task_id, null::timestamptz as due_at, null::bigint as task_execution_id, null as worker, null::timestamptz as claimed_at, null::int as standing,
              null::int as group_id, r.priority, r.rank
         from ready r
        where p_state = 'ready' and r.task_definition_id = v_definition and (r.priority, r.rank, r.task_id) > (v_priority, v_rank, v_task)
        order by r.priority, r.rank, r.task_id limit v_look + 1)
      union all
      (select s.task_id, s.run_at, null, null, null, null, null, null, null
         from scheduled s
        where p_state = 'scheduled' and s.task_definition_id = v_definition and (s.run_at, s.task_id) > (v_at, v_task)
        order by s.run_at, s.task_id limit v_look + 1)
      union all
      (select w.task_id, null, null, null, null, null, w.group_id, w.priority, w.rank
         from group_waiting w
        where p_state = 'waiting' and w.task_definition_id = v_definition and w.group_id <= v_group_last
          and (w.group_id, w.priority, w.rank, w.task_id) > (v_group, v_priority, v_rank, v_task)
        order by w.group_id, w.priority, w.rank, w.task_id limit v_look + 1)
      union all
      (select u.id, null, e.task_execution_id, e.worker, u.at, u.standing, null, null, null
         from task_execution e cross join lateral (
           select y.id, y.at, case when e.state <> 1 or e.lease_until < v_now then 3   -- the first ones that count as started, one per token
                                   when not y.is_prefetched and row_number() over (partition by y.is_prefetched order by y.n) <= e.token_count then 1 else 2 end as standing
             from (select i.id, i.at, i.n, i.id = any (e.prefetched) as is_prefetched from unnest(e.inflight, e.inflight_at) with ordinality i(id, at, n)) y) u
        where p_state = 'claimed' and e.task_definition_id = v_definition and e.state in (1, 3)
          and (u.standing, e.task_execution_id, u.id) > (v_standing, v_execution, v_task)
        order by u.standing, e.task_execution_id, u.id limit v_look + 1)) c),
  read as materialized (
    select l.*, t.kind, t.created_at, t.failed_count, t.lost_count, t.last_error, t.priority as task_priority, t.due_at as from_at, t.wave_id, t.dedupe_key,
           t.group_id as own_group_id, t.pending_group_key, case when p_path is not null then t.payload end as payload,
           coalesce(sum(case when p_path is not null then octet_length(t.payload) end) over (order by l.n rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (select l.* from looked l where l.n <= v_look order by l.n limit v_look) l
      join task t on t.task_id = l.task_id),
  hits as materialized (
    select x.*, case p_state when 'scheduled' then x.due_at
                             when 'ready' then greatest(coalesce(x.from_at, x.created_at), (select w.opened_at from wave w where w.wave_id = x.wave_id)) end as since_at
      from read x
     where x.bytes_before < v_bytes and x.created_at >= v_created_since and x.created_at < v_created_before
       and (p_key is null or x.dedupe_key = p_key) and (not v_is_holder or x.task_id = v_task + 1)   -- another one had the key before
       and (p_key_prefix is null or starts_with(x.dedupe_key, p_key_prefix))
       and (p_batch_id is null or x.wave_id = any (v_waves))
       and (p_group_key is null or x.own_group_id = any (v_groups) or x.pending_group_key = p_group_key)
       and (p_path is null or _payload_has(x.payload, p_path, p_value))
     order by x.n limit p_max),
  cut as (select case count(*) when p_max then max(x.n) else (select count(*) from read y where y.bytes_before < v_bytes) end as n from hits x)
  select coalesce('[' || (select string_agg(json_build_object(
           'task', t.task_id::text, 'kind', t.kind, 'priority', t.task_priority, 'state', coalesce((array['running', 'prefetched', 'lost'])[t.standing], p_state),
           'createdAt', _iso(t.created_at), 'dueAt', _iso(t.since_at), 'claimedAt', _iso(t.claimed_at),
           'failedCount', t.failed_count, 'lostCount', t.lost_count, 'error', t.last_error, 'worker', t.worker)::text, ',' order by t.n)
           from hits t) || ']', '[]'), c.n,
         case p_state when 'ready' then format('["%s","%s","%s"]', l.task_id, l.rank, l.priority)
                      when 'waiting' then format('["%s","%s","%s","%s"]', l.task_id, l.rank, l.priority, l.group_id)
                      when 'claimed' then format('["%s","%s","%s"]', l.task_id, l.task_execution_id, l.standing)
                      else format('["%s","%s"]', l.task_id, to_char(l.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) end, l.task_id, _iso(l.due_at)
    into tasks, looked_at, next, last_task, last_at
    from cut c
    left join looked l on l.n = c.n and not v_is_holder and exists (select 1 from looked m where m.n = c.n + 1);
  if v_is_holder then looked_at := case tasks when '[]' then 0 else 1 end; end if;   -- no other task holds the key
  if last_task is null then next := null; end if;   -- the last page
end $$;
