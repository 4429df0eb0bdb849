-- taskgate._note_demand: records the denial of a token, at each limit that is reached: the definition's own and those that it
-- shares. Only when at each of them a process could give one: it holds two more than that of the denied one. Else no gift would help.
-- Of shared limits the calls of functions without tasks pass on the last token, too (_passes_on), to a process that holds none.
-- In:     p_task_definition_id int; p_worker text: the denied one's; p_shared int[]: of _shared_ids
-- Out:    boolean: it was noted. At most once a second per limit, of a process that holds some already at most every other
--         second: else nothing was written
-- Raises: TG499 the token string is damaged
-- Locks:  token_demand, shared_token_demand by skip. Nothing where nothing is written
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_NoteDemand.sql
create or replace function taskgate._note_demand(p_task_definition_id int, p_worker text, p_shared int[]) returns boolean
language plpgsql as $$
declare
  v_now timestamptz := _now();
  v_before timestamptz := v_now - interval '1 second';
  d record;
  s record;
  v_noted boolean := false;
begin
  if not exists (select 1 from token_demand q where q.task_definition_id = p_task_definition_id and q.denied_at <= v_before)
     and (p_shared = '{}' or not exists (select 1 from shared_token_demand q where q.shared_limit_id = any (p_shared) and q.denied_at <= v_before)) then
    return false;
  end if;
  select h.o_mine as mine, l.task_limit >= 0 and h.o_all >= l.task_limit as is_full, l.task_limit > 0 and h.o_richest >= h.o_mine + 2 as is_rich into d
    from task_definition x
   cross join lateral (select coalesce(x.concurrency_limit_override, x.concurrency_limit) as task_limit) l
   cross join lateral _shares(x.execution_tokens, p_task_definition_id, p_worker) h
   where x.task_definition_id = p_task_definition_id;
  if d.is_full and not d.is_rich or not d.is_full and p_shared = '{}' then return false; end if;
  if p_shared <> '{}' then
    select max(h.mine) as mine, array_agg(h.shared_limit_id) as ids, bool_and(h.task_limit > 0 and (h.richest >= h.mine + 2 or h.mine = 0 and _passes_on(h.shared_limit_id))) as is_rich into s
      from _shared_shares(p_task_definition_id, p_worker) h where h.held >= h.task_limit;
    if not s.is_rich then return false; end if;      -- null: none is reached
    d.mine := greatest(d.mine, s.mine);              -- without an own limit only the shared ones count
  end if;
  if d.mine > 0 then v_before := v_now - interval '2 seconds'; end if;
  if d.is_full then
    update token_demand set denied_at = v_now
     where task_definition_id = (select q.task_definition_id from token_demand q
                                  where q.task_definition_id = p_task_definition_id and q.denied_at <= v_before
                                    for no key update skip locked);
    v_noted := found;
  end if;
  if p_shared <> '{}' then
    update shared_token_demand set denied_at = v_now, task_definition_id = p_task_definition_id
     where shared_limit_id = any (array(select q.shared_limit_id from shared_token_demand q
                                         where q.shared_limit_id = any (s.ids) and q.denied_at <= v_before
                                         order by q.shared_limit_id for no key update skip locked));
    v_noted := v_noted or found;
  end if;
  return v_noted;
end $$;
