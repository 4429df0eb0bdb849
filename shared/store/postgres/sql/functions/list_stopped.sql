-- taskgate.list_stopped: what a stop of everything has paused, and what its end is to resume.
-- In:     p_max int 1..1000
-- Out:    status: listed; stop: JSON of {at, by, reason} of the stop that is on, or null: none is; definitions: JSON array, by name, of {definition, at, by, reason}; schedules: JSON array, by definition and name,
--           of {definition, name, at, by, reason}; at most p_max each
-- Raises: TG422 max out of range
-- Locks:  none
-- Plan:   pk_stop, pk_stopped_definition, pk_stopped_schedule; primary keys; a schedule that its code has removed isn't told
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListStopped.sql
create or replace function taskgate.list_stopped(p_max int, out status text, out stop text, out definitions text, out schedules text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
begin
  perform _check_range('max', p_max, 1, 1000);
  status := 'listed';
  select json_build_object('at', _iso(x.stopped_at), 'by', x.stopped_by, 'reason', x.reason)::text into list_stopped.stop
    from taskgate.stop x where x.stop_id = 1 and x.stopped_at is not null;
  select coalesce('[' || string_agg(json_build_object('definition', x.name, 'at', _iso(x.stopped_at), 'by', x.stopped_by, 'reason', x.reason)::text, ','
           order by x.name) || ']', '[]')
    into definitions
    from (select d.name, s.stopped_at, s.stopped_by, s.reason
            from stopped_definition s join task_definition d on d.task_definition_id = s.task_definition_id
           order by s.task_definition_id limit p_max) x;
  select coalesce('[' || string_agg(json_build_object('definition', x.definition, 'name', x.name, 'at', _iso(x.stopped_at), 'by', x.stopped_by,
           'reason', x.reason)::text, ',' order by x.definition, x.name) || ']', '[]')
    into schedules
    from (select d.name as definition, c.name, s.stopped_at, s.stopped_by, s.reason
            from stopped_schedule s join schedule c on c.schedule_id = s.schedule_id
            join task_definition d on d.task_definition_id = c.task_definition_id
           order by s.schedule_id limit p_max) x;
end $$;
