-- taskgate._first_answer: the answer of the call that had this operation id, for a repeat of it.
-- In:     p_operation_id uuid: its row is there; p_name text: the operation that repeats it; p_target text: what it changes
-- Out:    json: as that operation has kept it
-- Raises: TG409 the operation id was used by another operation, or for another target
-- Locks:  none
-- Plan:   primary key
-- Twin:   mssql/sql/procedures/_CheckRepeat.sql
create or replace function taskgate._first_answer(p_operation_id uuid, p_name text, p_target text) returns json
language plpgsql stable as $$
declare
  v_answer json;
begin
  select o.answer::json into v_answer from taskgate.operation o where o.operation_id = p_operation_id and o.name = p_name;
  if not found then raise exception 'operation_id: was used by another operation (%)', p_operation_id using errcode = 'TG409'; end if;
  -- A build of before has kept no target.
  if v_answer ->> 'target' <> p_target then
    raise exception 'operation_id: was used by a call for another name (%)', p_operation_id using errcode = 'TG409';
  end if;
  return v_answer;
end $$;
