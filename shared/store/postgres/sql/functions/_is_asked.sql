-- taskgate._is_asked: should this process give back tokens for a denied execution? It holds several, and for the first two
-- seconds no other one holds two more: the richest first.
-- In:     p_task_definition_id int; p_lease_ms int, p_tokens text: of the definition; p_worker text: the process; p_now timestamptz
-- Out:    boolean
-- Raises: TG499 the token string is damaged
-- Locks:  none
-- Plan:   primary keys; one probe when no execution was denied
-- Twin:   mssql/sql/functions/_IsAsked.sql
create or replace function taskgate._is_asked(p_task_definition_id int, p_lease_ms int, p_tokens text, p_worker text, p_now timestamptz) returns boolean
language plpgsql stable as $$
declare
  v_denied timestamptz := _open_demand(p_task_definition_id, p_lease_ms, p_now);
begin
  if v_denied is null then return false; end if;
  return (select h.o_mine > 1 and (h.o_richest - h.o_mine < 2 or v_denied <= p_now - interval '2 seconds') from _shares(p_tokens, p_task_definition_id, p_worker) h);
end $$;
