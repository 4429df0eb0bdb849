-- taskgate._note_demand: notes that somebody was denied a token, when a process could give one: it holds two more than that of the
-- denied one, and the limit is reached.
-- In:     p_task_definition_id int; p_worker text: the denied one's
-- Out:    boolean: it was noted. At most once a second per definition, of a process that holds some already at most every other
--         second: else nothing was written
-- Raises: TG499 the token string is damaged
-- Locks:  token_demand by skip. Nothing where nothing is written
-- Plan:   primary keys
-- Twin:   mssql/sql/procedures/_NoteDemand.sql
create or replace function taskgate._note_demand(p_task_definition_id int, p_worker text) returns boolean
language plpgsql as $$
declare
  v_now timestamptz := _now();
  v_before timestamptz := v_now - interval '1 second';
  v_mine int;
begin
  if not exists (select 1 from token_demand q where q.task_definition_id = p_task_definition_id and q.denied_at <= v_before) then
    return false;
  end if;
  select h.o_mine into v_mine from task_definition d, _shares(d.execution_tokens, p_worker) h
   where d.task_definition_id = p_task_definition_id and coalesce(d.concurrency_limit_override, d.concurrency_limit) > 0
     and h.o_all >= coalesce(d.concurrency_limit_override, d.concurrency_limit) and h.o_richest >= h.o_mine + 2;
  if not found then return false; end if;
  if v_mine > 0 then v_before := v_now - interval '2 seconds'; end if;
  update token_demand set denied_at = v_now
   where task_definition_id = (select q.task_definition_id from token_demand q
                                where q.task_definition_id = p_task_definition_id and q.denied_at <= v_before
                                  for no key update skip locked);
  return found;
end $$;
