-- taskgate._note_demand: notes that somebody was denied a token, when a holder could give one: it holds two more than the
-- denied one, and the limit is reached.
-- In:     p_task_definition_id int; p_own int: tokens that the denied one holds
-- Out:    boolean: it was noted. At most once a second per definition: else nothing was written
-- Raises: -
-- Locks:  token_demand by skip; the caller holds nothing else. Nothing where nothing is written
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_NoteDemand.sql
create or replace function taskgate._note_demand(p_task_definition_id int, p_own int) returns boolean
language plpgsql as $$
declare
  v_now timestamptz := _now();
begin
  if not exists (select 1 from token_demand q where q.task_definition_id = p_task_definition_id and q.denied_at <= v_now - interval '1 second') then
    return false;
  end if;
  if not exists (
    select 1 from task_definition d, lateral (
      select sum(c.held) as held, max(c.held) as most
        from (select count(*) as held from _read_tokens(d.execution_tokens) t where t.is_held group by t.grantee) c) h
     where d.task_definition_id = p_task_definition_id and coalesce(d.concurrency_limit_override, d.concurrency_limit) > 0
       and h.held >= coalesce(d.concurrency_limit_override, d.concurrency_limit) and h.most >= p_own + 2) then
    return false;
  end if;
  update token_demand set denied_at = v_now
   where task_definition_id = (select q.task_definition_id from token_demand q
                                where q.task_definition_id = p_task_definition_id and q.denied_at <= v_now - interval '1 second'
                                  for no key update skip locked);
  return found;
end $$;
