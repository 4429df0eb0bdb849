-- taskgate.list_watermarks: watermarks of blocks with their versions, by definition as registered, then name.
-- In:     p_name: the definition, or null for all; p_watermark: only this one, or null; p_max int 1..1000
-- Out:    status: listed; watermarks: JSON array of {definition, name, value: JSON text or null: none, version: text, changedAt}
-- Raises: TG404 unknown definition; TG422 max out of range
-- Locks:  none
-- Plan:   pk_block_watermark in its order
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListWatermarks.sql
create or replace function taskgate.list_watermarks(p_name text, p_watermark text, p_max int, out status text, out watermarks text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_definition int;
begin
  perform _check_range('max', p_max, 1, 1000);
  if p_name is not null then v_definition := _find_definition(p_name); end if;
  status := 'listed';
  select coalesce('[' || string_agg(json_build_object(
           'definition', (select d.name from task_definition d where d.task_definition_id = w.task_definition_id), 'name', w.name,
           'value', nullif(w.watermark_value, 'null'), 'version', w.version::text, 'changedAt', _iso(w.changed_at))::text, ','
           order by w.task_definition_id, w.name) || ']', '[]')
    into watermarks
    from (select x.* from block_watermark x
           where (p_name is null or x.task_definition_id = v_definition) and (p_watermark is null or x.name = p_watermark)
           order by x.task_definition_id, x.name limit p_max) w;
end $$;
