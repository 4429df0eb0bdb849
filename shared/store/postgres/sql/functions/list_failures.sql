-- taskgate.list_failures: dead tasks put together by definition, kind and error, with their ids.
-- In:     p_name: of one definition, or null: of all; p_max int 1..5000: so many dead tasks are looked at, the newest of each definition;
--           of all definitions the same number of each, at least 10
-- Out:    status: listed; looked_at int: dead tasks looked at; is_whole: there are no others; failures: JSON array, most first, of
--           {definition, kind, error: its first 300 characters without blanks at the end, or null, count, firstAt, lastAt: when they ended,
--           tasks: ids joined by commas, newest first}
-- Raises: TG404 unknown definition; TG422 max out of range
-- Locks:  none
-- Plan:   ix_archive_finished backwards per definition; no sort of a whole state, as list_tasks
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListFailures.sql
create or replace function taskgate.list_failures(
  p_name text, p_max int, out status text, out looked_at int, out is_whole boolean, out failures text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  v_definition int;
  v_each int;
begin
  perform _check_range('max', p_max, 1, 5000);
  if p_name is not null then v_definition := _find_definition(p_name); end if;
  status := 'listed';
  v_each := case when p_name is null
    then greatest(p_max / greatest((select count(*) from task_definition d   -- one probe each: an `exists` may be planned as a look at all dead
                                     cross join lateral (select 1 from archive a where a.task_definition_id = d.task_definition_id and a.outcome = 11 limit 1) x), 1), 10)
    else p_max end;
  with seen as materialized (
    select d.name, a.kind, rtrim(left(a.error, 300), ' ') as error, a.finished_at, a.task_id, a.n
      from task_definition d
     cross join lateral (
       select x.*, row_number() over (order by x.finished_at desc, x.task_id desc) as n
         from (select y.kind, y.error, y.finished_at, y.task_id from archive y
                where y.task_definition_id = d.task_definition_id and y.outcome = 11
                order by y.finished_at desc, y.task_id desc limit v_each + 1) x) a   -- one more than is looked at
     where p_name is null or d.task_definition_id = v_definition),
  grouped as (
    select s.name, s.kind, s.error, count(*) as n, min(s.finished_at) as first_at, max(s.finished_at) as last_at,
           string_agg(s.task_id::text, ',' order by s.finished_at desc, s.task_id desc) as ids
      from seen s where s.n <= v_each group by s.name, s.kind, s.error)
  select (select count(*) from seen s where s.n <= v_each)::int, not exists (select 1 from seen s where s.n > v_each),
         coalesce('[' || (select string_agg(json_build_object('definition', g.name, 'kind', g.kind, 'error', g.error, 'count', g.n, 'firstAt', _iso(g.first_at),
           'lastAt', _iso(g.last_at), 'tasks', g.ids)::text, ',' order by g.n desc, g.last_at desc, g.ids collate "C") from grouped g) || ']', '[]')
    into looked_at, is_whole, failures;
end $$;
