-- taskgate._entry_per_payload: the entries of an enqueue that says once what its tasks have in common, each with its payload.
-- In:     p_tasks json: an array; p_payloads text: as of enqueue_tasks
-- Out:    text: JSON array of entries with their payloads
-- Raises: TG413 too many or none; TG422 p_payloads is no JSON array, p_tasks has not just one entry, or that has a payload
-- Locks:  none
-- Plan:   no table
-- Twin:   inside mssql/sql/functions/_ReadTasks.sql
create or replace function taskgate._entry_per_payload(p_tasks json, p_payloads text) returns text
language plpgsql as $$
declare
  v_payloads json;
  v_common text := p_tasks ->> 0;
begin
  begin
    v_payloads := p_payloads::json;
  exception when data_exception or statement_too_complex then
    v_payloads := null;
  end;
  if v_payloads is null or json_typeof(v_payloads) <> 'array' then
    raise exception 'payloads: expected a JSON array (%)', left(p_payloads, 100) using errcode = 'TG422';
  end if;
  if json_array_length(p_tasks) <> 1 then
    raise exception 'tasks: expected one entry beside payloads (%)', json_array_length(p_tasks) using errcode = 'TG422';
  end if;
  if json_array_length(v_payloads) not between 1 and 10000 then
    raise exception 'tasks: expected 1..10000 entries (%)', json_array_length(v_payloads) using errcode = 'TG413';
  end if;
  if json_typeof(p_tasks -> 0) <> 'object' then return p_tasks::text; end if;   -- told by its reader
  if p_tasks -> 0 ->> 'payload' is not null then
    raise exception 'tasks[0].payload: expected none beside payloads' using errcode = 'TG422';
  end if;
  v_common := left(v_common, -1) || case when exists (select 1 from json_object_keys(p_tasks -> 0)) then ',' else '' end || '"payload":';
  return (select '[' || string_agg(v_common || to_json(e.value::text)::text || '}', ',' order by e.n) || ']'
            from json_array_elements(v_payloads) with ordinality e(value, n));
end $$;
