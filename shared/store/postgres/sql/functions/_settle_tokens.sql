-- taskgate._settle_tokens: the one place that changes a definition's tokens: grant, give back, fit to the limit.
-- In:     p_task_definition_id int
--         p_task_execution_id bigint: the asker; 0: none, the tokens are only fitted to the limit
--         p_want int 0..1000: hold up to this many afterwards (tokens held already count); null: don't grant
--         p_keep int: hold at most this many afterwards; null: don't give back
--         p_over_limit_keep int: give back down to this many, but only as many as are held above the limit; null: don't.
--           Where none are, but a denial is still unanswered: half of the tokens that the asker's process holds more
--           than the process with the fewest (than 0, if it holds at most one more). At most that one's part of the limit, less those that are
--           free. So a process keeps one at least. Only the process with the most, or with one less, gives within the first 2 s. For those who
--           were denied by a shared limit likewise (_shared_gift); of several limits the most that one of them asks for
--         p_shared int[]: of _shared_ids, read before; the caller holds these rows. Tokens granted or freed here are so there, too, and
--           no more is granted than all of them allow. When the definition has others by now nothing is changed: ask again
-- Out:    o_own: tokens the execution holds now; o_granted, o_freed: how many were; o_held: by all, together (of the
--           definition); o_limit: -1 none; o_token_fence: grows with every grant; o_paused; o_dead: dead holders found, once per limit
--         o_is_live: false: the asker's execution isn't live (any more), nothing was granted
--         o_given: freed for a denied execution. Until it asks again (_reserved_ms) they are for processes with few tokens: a
--           process gets no more than its part of the limit, and none that holds some more than the richest other one has
--         o_given_to int[]: definitions of those who were denied by a shared limit
-- Raises: TG404 unknown definition; TG499 damaged token string
-- Locks:  (shared_limit, by the caller,) task_definition (advisory 42 in front, for arrival order), task_execution (dead holders by skip, then the asker's own),
--         token_gift, shared_token_demand
-- Plan:   primary keys only; write, read, write
-- Twin:   mssql/sql/procedures/_SettleTokens.sql
create or replace function taskgate._settle_tokens(
  p_task_definition_id int, p_task_execution_id bigint, p_want int, p_keep int, p_over_limit_keep int, p_shared int[],
  out o_own int, out o_granted int, out o_freed int, out o_held int, out o_limit int, out o_token_fence bigint,
  out o_paused boolean, out o_dead int, out o_is_live boolean, out o_given int, out o_given_to int[])
language plpgsql as $$
declare
  v_now timestamptz;
  d record;
  v_id uuid[];
  v_held boolean[];
  v_grantee bigint[];
  v_dead bigint[];
  v_count int;
  v_shared int[];
  v_shared_over_limit int := 0;
  v_worker text;
  v_denied timestamptz;
  v_part int;
  v_gift int;
  v_shared_gift int := 0;
  v_asking int[];
  r record;
  s record;
begin
  o_own := 0; o_granted := 0; o_freed := 0; o_held := 0; o_dead := 0; o_is_live := true; o_given := 0; o_given_to := '{}';
  perform pg_advisory_xact_lock(42, p_task_definition_id);
  update task_definition set hold_lock_task_execution_id = p_task_execution_id
   where task_definition_id = p_task_definition_id
  returning name, execution_tokens, token_fence, paused, coalesce(concurrency_limit_override, concurrency_limit) as task_limit, lease_ms into d;
  if not found then
    raise exception 'task_definition_id: unknown (%)', p_task_definition_id using errcode = 'TG404';
  end if;
  v_now := _now();                                   -- after the wait: a holder's lease may have ended meanwhile
  o_limit := d.task_limit; o_paused := d.paused; o_token_fence := d.token_fence;
  if p_task_execution_id <> 0 then
    select e.token_count, e.worker, _shared_ids(e.task_definition_id) into v_count, v_worker, v_shared from task_execution e
     where e.task_execution_id = p_task_execution_id and e.state = 1 for no key update;
    o_is_live := found;
    o_own := coalesce(v_count, 0);
    if v_shared <> p_shared then return; end if;      -- a registration came between: these rows aren't the ones to decide by
    if p_shared <> '{}' then
      select * into s from _settle_shared(p_shared, p_task_execution_id, greatest(coalesce(p_want, 0) - o_own, 0), null);
      o_dead := s.o_dead; v_shared_over_limit := s.o_over_limit;
      if p_want > o_own then p_want := least(p_want, o_own + s.o_room, o_own + _shared_room(p_task_definition_id, v_worker, v_now)); end if;   -- a null room is any number
      if o_is_live and p_over_limit_keep is not null and greatest(v_shared_over_limit, _over_limit(p_task_definition_id)) = 0 then
        select coalesce(g.o_gift, 0), g.o_shared into v_shared_gift, v_asking from _shared_gift(p_task_definition_id, d.lease_ms, v_worker, v_now) g;
      end if;
    end if;
  end if;

  if d.task_limit = -1 then                          -- no limit: a counter stands in for the string
    v_count := greatest(v_shared_over_limit, v_shared_gift);
    if p_over_limit_keep is not null and v_count > 0 then p_keep := greatest(o_own - v_count, p_over_limit_keep); end if;
    if o_is_live and p_want > o_own and not d.paused then
      o_granted := p_want - o_own; o_own := p_want; o_token_fence := d.token_fence + 1;
    elsif p_keep < o_own then
      o_freed := o_own - p_keep; o_own := p_keep;
    end if;
    update task_definition set token_fence = o_token_fence where task_definition_id = p_task_definition_id and token_fence <> o_token_fence;
  else
    if not _tokens_are_sound(d.execution_tokens) then
      raise exception 'execution_tokens: not a list of I:,S:,G: triples (%) in definition %', left(d.execution_tokens, 200), d.name using errcode = 'TG499';
    end if;
    select coalesce(array_agg(t.token_id order by t.ord), '{}'), coalesce(array_agg(t.is_held order by t.ord), '{}'), coalesce(array_agg(t.grantee order by t.ord), '{}')
      into v_id, v_held, v_grantee from _read_tokens(d.execution_tokens) t;
    o_own := cardinality(array(select 1 from unnest(v_held, v_grantee) u(h, g) where u.h and u.g = p_task_execution_id));
    o_held := cardinality(array(select 1 from unnest(v_held) u(h) where u.h));

    -- 1. Give back what the asker no longer wants to hold, last granted first.
    v_count := greatest(o_held - d.task_limit, v_shared_over_limit);
    if p_over_limit_keep is not null and v_count <= 0 then
      v_denied := _open_demand(p_task_definition_id, d.lease_ms, v_now);
      if v_denied is not null then
        select * into r from _shares(d.execution_tokens, p_task_definition_id, v_worker);
        if r.o_mine - r.o_poorest < 2 then r.o_poorest := 0; end if;
        if r.o_richest - r.o_mine < 2 or v_denied <= v_now - interval '2 seconds' then
          v_part := r.o_others + case r.o_poorest when 0 then 2 else 1 end;
          v_part := (d.task_limit + v_part - 1) / v_part;
          v_gift := least((r.o_mine - r.o_poorest) / 2, v_part - r.o_poorest) - (d.task_limit - o_held);
        end if;
      end if;
      v_count := greatest(v_gift, v_shared_gift);
    end if;
    if p_over_limit_keep is not null and v_count > 0 then p_keep := greatest(o_own - v_count, p_over_limit_keep); end if;
    if p_keep < o_own then
      for i in reverse cardinality(v_id)..1 loop
        exit when o_own <= p_keep;
        if v_held[i] and v_grantee[i] = p_task_execution_id then
          v_held[i] := false; o_own := o_own - 1; o_held := o_held - 1; o_freed := o_freed + 1;
        end if;
      end loop;
    end if;
    if v_gift is not null and o_held < d.task_limit then   -- a denied execution finds some now
      o_given := o_freed;
      update token_gift set given_at = v_now where task_definition_id = p_task_definition_id;
    end if;

    -- 2. Dead holders, before any comparison with the limit: else a limit lowered below their number denies for ever.
    if o_held > d.task_limit or (p_want is not null and d.task_limit - o_held < p_want - o_own) then
      v_dead := _dead_holders(v_held, v_grantee, p_task_execution_id, v_now);
      for i in 1..cardinality(v_id) loop
        if v_held[i] and v_grantee[i] = any (v_dead) then
          v_held[i] := false; v_id[i] := gen_random_uuid();   -- a new id: what the old holder says of it matches nothing
          o_held := o_held - 1;
        end if;
      end loop;
      o_dead := o_dead + coalesce(cardinality(v_dead), 0);
    end if;

    -- 3. Fit the free ones to the limit: drop those that are too many, make those that are missing.
    v_count := cardinality(v_id) - greatest(o_held, d.task_limit);
    for i in reverse cardinality(v_id)..1 loop
      exit when v_count <= 0;
      if not v_held[i] then
        v_id := v_id[:i - 1] || v_id[i + 1:]; v_held := v_held[:i - 1] || v_held[i + 1:]; v_grantee := v_grantee[:i - 1] || v_grantee[i + 1:];
        v_count := v_count - 1;
      end if;
    end loop;
    while cardinality(v_id) < d.task_limit loop
      v_id := v_id || gen_random_uuid(); v_held := v_held || false; v_grantee := v_grantee || 0::bigint;
    end loop;

    -- 4. Grant in list order; a part of the wish is a grant, too.
    if p_want > o_own and _reserved_ms(p_task_definition_id, v_now) is not null then
      select * into r from _shares(d.execution_tokens, p_task_definition_id, v_worker);
      v_part := (d.task_limit + r.o_others) / (r.o_others + 1);      -- rounded up
      if r.o_mine > 0 then v_part := least(v_part, r.o_richest); end if;
      p_want := least(p_want, o_own + greatest(v_part - r.o_mine, 0));
    end if;
    if p_want > o_own and o_is_live and not d.paused then
      for i in 1..cardinality(v_id) loop
        exit when o_own >= p_want or o_held >= d.task_limit;
        if not v_held[i] then
          v_held[i] := true; v_grantee[i] := p_task_execution_id;
          o_own := o_own + 1; o_held := o_held + 1; o_granted := o_granted + 1;
        end if;
      end loop;
      if o_granted > 0 then o_token_fence := d.token_fence + 1; end if;
    end if;

    update task_definition
       set token_fence = o_token_fence,
           execution_tokens = coalesce((select string_agg('I:' || u.id || ',S:' || case when u.h then '0' else '1' end || ',G:' || u.g, ',' order by u.n)
                                          from unnest(v_id, v_held, v_grantee) with ordinality u(id, h, g, n)), '')
     where task_definition_id = p_task_definition_id;
  end if;
  if p_task_execution_id <> 0 and o_is_live and (o_granted > 0 or o_freed > 0) then
    update task_execution
       set token_count = o_own, held_ms = held_ms + (token_count * extract(epoch from v_now - coalesce(tokens_at, started_at)) * 1000)::bigint, tokens_at = v_now
     where task_execution_id = p_task_execution_id;
    if p_shared <> '{}' then perform _settle_shared(p_shared, p_task_execution_id, 0, o_own); end if;
  end if;
  if v_asking is not null then                       -- a denied execution finds some now
    with given as (
      update shared_token_demand q set given_at = v_now
        from shared_limit x
       where q.shared_limit_id = any (v_asking) and x.shared_limit_id = q.shared_limit_id
         and _held_tokens(x.execution_tokens) < coalesce(x.concurrency_limit_override, x.concurrency_limit)
      returning q.task_definition_id)
    select coalesce(array_agg(g.task_definition_id), '{}') into o_given_to from given g;
    if o_given_to <> '{}' then o_given := o_freed; end if;
  end if;
end $$;
