-- taskgate._change_shared_links: from which shared limits a definition draws, and their limits, as its code says. Running tasks count
-- against a limit from the moment that it applies, and no longer when it doesn't. No task is stopped.
-- In:     p_task_definition_id int; p_shared_limits text: JSON array of {name, limit: null leaves it}, or null; p_registered_by
-- Out:    o_old, o_new text: JSON arrays of names, by name, without blanks and escaped as little as JSON lets; null: none
-- Raises: TG499 damaged token string
-- Locks:  -: the caller holds all old and new rows of shared_limit, then task_definition
-- Plan:   primary keys; the open executions of the definition
-- Twin:   mssql/sql/procedures/_ChangeSharedLinks.sql
create or replace function taskgate._change_shared_links(
  p_task_definition_id int, p_shared_limits text, p_registered_by text, out o_old text, out o_new text)
language plpgsql as $$
declare
  v_now timestamptz := _now();
  s record;
  e record;
begin
  select '[' || string_agg(to_json(x.name)::text, ',' order by x.name) || ']' into o_old from task_definition_shared_limit l join shared_limit x on x.shared_limit_id = l.shared_limit_id
   where l.task_definition_id = p_task_definition_id;
  for s in
    select x.shared_limit_id, x.name, x.concurrency_limit, x.concurrency_limit_override, j.name is not null as is_wanted, j.task_limit,
           l.shared_limit_id is not null as is_linked
      from shared_limit x
      left join (select y.value ->> 'name' as name, (y.value ->> 'limit')::int as task_limit
                   from json_array_elements(coalesce(p_shared_limits, '[]')::json) y(value)) j on j.name = x.name
      left join task_definition_shared_limit l on l.shared_limit_id = x.shared_limit_id and l.task_definition_id = p_task_definition_id
     where j.name is not null or l.shared_limit_id is not null
     order by x.shared_limit_id loop
    if s.task_limit <> s.concurrency_limit then
      perform _change_shared_limit(s.shared_limit_id, s.task_limit, s.concurrency_limit_override);
      insert into setting_audit (task_definition_id, setting, old_value, new_value, source, changed_by, changed_at)
      values (p_task_definition_id, 'shared_limit', s.concurrency_limit || ' of ' || s.name, s.task_limit || ' of ' || s.name, 'code', p_registered_by, v_now);
    end if;
    continue when s.is_wanted = s.is_linked;
    if s.is_wanted then
      insert into task_definition_shared_limit (task_definition_id, shared_limit_id) values (p_task_definition_id, s.shared_limit_id);
    else
      delete from task_definition_shared_limit l where l.task_definition_id = p_task_definition_id and l.shared_limit_id = s.shared_limit_id;
    end if;
    for e in select x.task_execution_id, x.token_count from task_execution x
              where x.task_definition_id = p_task_definition_id and x.state in (1, 3) and x.state = 1 /* the index's own filter, then the test */
                and x.token_count > 0 order by x.task_execution_id loop
      perform _settle_shared(array[s.shared_limit_id], e.task_execution_id, 0, case when s.is_wanted then e.token_count else 0 end);
    end loop;
    perform _settle_shared(array[s.shared_limit_id], 0, 0, null);
  end loop;
  select '[' || string_agg(to_json(x.name)::text, ',' order by x.name) || ']' into o_new from task_definition_shared_limit l join shared_limit x on x.shared_limit_id = l.shared_limit_id
   where l.task_definition_id = p_task_definition_id;
end $$;
