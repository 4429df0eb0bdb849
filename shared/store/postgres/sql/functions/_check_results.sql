-- taskgate._check_results: results are JSON objects or arrays of at most 64 KiB, so that readers may join and parse them.
-- In:     p_results text[]: JSON texts or nulls
-- Out:    -
-- Raises: TG413 too large; TG422 not the text of a JSON object or array
-- Locks:  none
-- Plan:   no table
-- Twin:   inside mssql/sql/procedures/_EndTasks.sql
create or replace function taskgate._check_results(p_results text[]) returns void
language plpgsql as $$
declare
  v_result text;
begin
  foreach v_result in array p_results loop
    continue when v_result is null;
    if octet_length(v_result) > 65536 then
      raise exception 'result: expected at most 65536 bytes (%)', octet_length(v_result) using errcode = 'TG413';
    end if;
    if not _is_json_container(v_result) then
      raise exception 'result: expected the text of a JSON object or array (%)', left(v_result, 100) using errcode = 'TG422';
    end if;
  end loop;
end $$;
