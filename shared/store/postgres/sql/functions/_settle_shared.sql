-- taskgate._settle_shared: changes the tokens of shared limits: frees the dead's, fits them to the limits, grants and takes back.
-- In:     p_shared int[]: ids; the caller holds the rows
--         p_task_execution_id bigint: the asker, 0: none
--         p_need int, 0 or more: so many more are wanted: dead holders are looked for where they aren't free, or where too many are held
--         p_own int: hold exactly so many in each row afterwards, even above the limit; null: change nothing of the asker's
-- Out:    o_room int: so many more may be granted by each of them, null: any number; o_over_limit: held above the limit, of the row
--           where that is most; o_dead: dead holders found, once per row
-- Raises: TG499 damaged token string
-- Locks:  task_execution of dead holders by skip
-- Plan:   primary keys only
-- Twin:   mssql/sql/procedures/_SettleShared.sql
create or replace function taskgate._settle_shared(
  p_shared int[], p_task_execution_id bigint, p_need int, p_own int, out o_room int, out o_over_limit int, out o_dead int)
language plpgsql as $$
declare
  v_now timestamptz := _now();
  v_shared int;
  s record;
  v_id uuid[];
  v_held boolean[];
  v_grantee bigint[];
  v_dead bigint[];
  v_own int;
  v_sum int;
  v_granted int;
begin
  o_over_limit := 0; o_dead := 0;
  for v_shared in select u.id from unnest(p_shared) u(id) order by u.id loop
    select x.name, x.execution_tokens, coalesce(x.concurrency_limit_override, x.concurrency_limit) as task_limit into s
      from shared_limit x where x.shared_limit_id = v_shared;
    continue when s.task_limit = -1;
    if not _tokens_are_sound(s.execution_tokens) then
      raise exception 'execution_tokens: not a list of I:,S:,G: triples (%) in shared limit %', left(s.execution_tokens, 200), s.name using errcode = 'TG499';
    end if;
    select coalesce(array_agg(t.token_id order by t.ord), '{}'), coalesce(array_agg(t.is_held order by t.ord), '{}'), coalesce(array_agg(t.grantee order by t.ord), '{}')
      into v_id, v_held, v_grantee from _read_tokens(s.execution_tokens) t;
    v_own := cardinality(array(select 1 from unnest(v_held, v_grantee) u(h, g) where u.h and u.g = p_task_execution_id));
    v_sum := cardinality(array(select 1 from unnest(v_held) u(h) where u.h));

    -- 1. What the asker no longer holds, last granted first.
    for i in reverse cardinality(v_id)..1 loop
      exit when p_own is null or v_own <= p_own;
      if v_held[i] and v_grantee[i] = p_task_execution_id then
        v_held[i] := false; v_own := v_own - 1; v_sum := v_sum - 1;
      end if;
    end loop;

    -- 2. Dead holders, as in _settle_tokens.
    if s.task_limit - v_sum < p_need then
      select array_agg(h.grantee) into v_dead from (
        select distinct u.g as grantee from unnest(v_held, v_grantee) u(h, g) where u.h and u.g <> p_task_execution_id) h
       where not exists (select 1 from task_execution e
                          where e.task_execution_id = h.grantee and e.state = 1 and e.lease_until >= v_now);
      if v_dead is not null then
        update task_execution set state = 3, ended_at = coalesce(ended_at, v_now), token_count = 0
         where task_execution_id = any (array(
           select e.task_execution_id from task_execution e
            where e.task_execution_id = any (v_dead) and e.state = 1 and e.lease_until < v_now
            order by e.task_execution_id for no key update skip locked));
        select array_agg(x.id) into v_dead from unnest(v_dead) x(id)
         where not exists (select 1 from task_execution e where e.task_execution_id = x.id and e.state = 1);
        for i in 1..cardinality(v_id) loop
          if v_held[i] and v_grantee[i] = any (v_dead) then
            v_held[i] := false; v_id[i] := gen_random_uuid(); v_sum := v_sum - 1;
          end if;
        end loop;
        o_dead := o_dead + coalesce(cardinality(v_dead), 0);
      end if;
    end if;

    -- 3. As many tokens as the limit says, or as are held.
    for i in reverse cardinality(v_id)..1 loop
      exit when cardinality(v_id) <= greatest(v_sum, s.task_limit);
      if not v_held[i] then
        v_id := v_id[:i - 1] || v_id[i + 1:]; v_held := v_held[:i - 1] || v_held[i + 1:]; v_grantee := v_grantee[:i - 1] || v_grantee[i + 1:];
      end if;
    end loop;
    while cardinality(v_id) < s.task_limit loop
      v_id := v_id || gen_random_uuid(); v_held := v_held || false; v_grantee := v_grantee || 0::bigint;
    end loop;

    -- 4. What the asker holds now: free ones in list order; tasks that ran before this limit existed count above it, too.
    v_granted := greatest(coalesce(p_own, 0) - v_own, 0);
    for i in 1..cardinality(v_id) loop
      exit when p_own is null or v_own >= p_own;
      if not v_held[i] then
        v_held[i] := true; v_grantee[i] := p_task_execution_id; v_own := v_own + 1; v_sum := v_sum + 1;
      end if;
    end loop;
    while v_own < p_own loop
      v_id := v_id || gen_random_uuid(); v_held := v_held || true; v_grantee := v_grantee || p_task_execution_id;
      v_own := v_own + 1; v_sum := v_sum + 1;
    end loop;

    update shared_limit x
       set hold_lock_task_execution_id = p_task_execution_id, token_fence = x.token_fence + least(v_granted, 1),
           execution_tokens = coalesce((select string_agg('I:' || u.id || ',S:' || case when u.h then '0' else '1' end || ',G:' || u.g, ',' order by u.n)
                                          from unnest(v_id, v_held, v_grantee) with ordinality u(id, h, g, n)), '')
     where x.shared_limit_id = v_shared;
    o_room := least(o_room, greatest(s.task_limit - v_sum, 0));
    o_over_limit := greatest(o_over_limit, v_sum - s.task_limit);
  end loop;
end $$;
