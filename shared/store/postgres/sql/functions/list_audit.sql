-- taskgate.list_audit: who changed what and why, newest first: settings, and the calls that _audit_call writes.
-- In:     p_object: a definition, group, shared limit, schedule, watermark, `batch ID`, or the id of a task, or null; p_action: name of
--         an operation, or null; p_changed_by: the actor, or null; p_since, p_before: ISO-8601 instants, or null; p_max int 1..100
-- Out:    status: listed; entries: JSON array of {at, action: the operation, setting: its name or null, definition: or null, object: name
--         of what isn't a definition, or null, tasks: the first 1000 ids or null, taskCount: or null, old, new: values of a setting,
--         source: code | operator, actor, reason}
-- Raises: TG422 max out of range, an instant that can't be read
-- Locks:  none
-- Plan:   pk_setting_audit and pk_call_audit from their new ends, calls between the two instants: a filter that few entries meet reads
--         all of them; enqueues, which are most, only where they may meet it
-- Once:   a read
-- Twin:   mssql/sql/procedures/ListAudit.sql
create or replace function taskgate.list_audit(
  p_object text, p_action text, p_changed_by text, p_since text, p_before text, p_max int, out status text, out entries text)
language plpgsql security definer
set search_path = taskgate, pg_temp set standard_conforming_strings = on set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set jit = off as $$
declare
  v_since timestamptz := coalesce(_instant(p_since), '0001-01-01T00:00:00Z');
  v_before timestamptz := coalesce(_instant(p_before), '9999-12-31T00:00:00Z');
  v_definition int := (select d.task_definition_id from task_definition d where d.name = p_object);
  v_is_task boolean := p_object ~ '^[0-9]+$';        -- else no list of ids is read
begin
  perform _check_range('max', p_max, 1, 100);
  if p_since is not null and _instant(p_since) is null then
    raise exception 'since: expected an ISO-8601 instant with its zone (%)', left(p_since, 100) using errcode = 'TG422';
  end if;
  if p_before is not null and _instant(p_before) is null then
    raise exception 'before: expected an ISO-8601 instant with its zone (%)', left(p_before, 100) using errcode = 'TG422';
  end if;
  status := 'listed';
  select coalesce('[' || string_agg(json_build_object('at', _iso(x.changed_at), 'action', x.action, 'setting', x.setting,
           'definition', x.definition, 'object', x.object, 'tasks', x.task_ids::json, 'taskCount', x.task_count,
           'old', x.old_value, 'new', x.new_value, 'source', x.source, 'actor', x.changed_by, 'reason', x.reason)::text,
           ',' order by x.changed_at desc, x.is_call desc, x.id desc) || ']', '[]')
    into entries
    from (
      select * from (
        (select a.changed_at, 0 as is_call, a.setting_audit_id as id, n.action, a.setting, d.name as definition,
                case when n.is_named then substr(n.value, nullif(strpos(n.value, ' of '), 0) + 4) end as object, null as task_ids, null::int as task_count,
                case when n.is_named then left(a.old_value, coalesce(nullif(strpos(a.old_value, ' of '), 0) - 1, 400)) else a.old_value end as old_value,
                case when n.is_named then left(a.new_value, coalesce(nullif(strpos(a.new_value, ' of '), 0) - 1, 400)) else a.new_value end as new_value,
                a.source, a.changed_by, a.reason
           from setting_audit a
          cross join lateral (
            select coalesce(a.new_value, a.old_value) as value,
                   a.setting in ('shared_limit', 'shared_limit_override', 'schedule', 'schedule_paused', 'watermark')
                     or a.setting like 'own\_group\_%' or a.setting like 'global\_group\_%' as is_named,
                   case when a.setting = 'schedule' then 'set_schedules'
                        when a.source = 'code' then 'register_definition'
                        when a.setting = 'limit_override' then 'set_limit' when a.setting = 'rate_override' then 'set_rate'
                        when a.setting = 'shared_limit_override' then 'set_shared_limit'
                        when a.setting = 'paused' then case a.new_value when 'true' then 'pause_definition' else 'resume_definition' end
                        when a.setting = 'schedule_paused' then 'set_schedule_paused' when a.setting = 'watermark' then 'set_watermark'
                        when a.setting = 'owner' then 'set_definition_owner' when a.setting = 'stop' then 'set_stop'
                        else 'set_group' end as action offset 0) n
           left join task_definition d on d.task_definition_id = a.task_definition_id
          where a.changed_at >= v_since and a.changed_at < v_before
            and (p_action is null or n.action = p_action) and (p_changed_by is null or a.changed_by = p_changed_by)
            and (p_object is null or a.task_definition_id = v_definition or n.is_named and substr(n.value, nullif(strpos(n.value, ' of '), 0) + 4) = p_object)
          order by a.setting_audit_id desc limit p_max)
        union all
        (select c.changed_at, 1, c.call_audit_id, c.action, null, c.name, 'batch ' || c.batch_id, c.task_ids,
                case when c.batch_id is null then c.task_count end, null, null, 'operator', c.changed_by, c.reason
           from (values (false), (true)) e(is_enqueue)
          cross join lateral (
            select y.*, z.name
              from call_audit y left join task_definition z on z.task_definition_id = y.task_definition_id
             where y.is_enqueue = e.is_enqueue and y.changed_at >= v_since and y.changed_at < v_before
               and (p_action is null or y.action = p_action) and (p_changed_by is null or y.changed_by = p_changed_by)
               and (p_object is null or y.task_definition_id = v_definition or 'batch ' || y.batch_id = p_object or v_is_task and strpos(y.task_ids, '"' || p_object || '"') > 0)
             order by y.changed_at desc, y.call_audit_id desc limit p_max) c
          where p_action is null or e.is_enqueue = (p_action = 'enqueue_tasks'))) u
       order by u.changed_at desc, u.is_call desc, u.id desc limit p_max) x;
end $$;
