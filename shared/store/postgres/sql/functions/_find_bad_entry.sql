-- taskgate._find_bad_entry: which entry of an enqueue can't be read, and why. Only for the error message.
-- In:     p_tasks text: a JSON array
-- Out:    text: `tasks[n].field: expected .. (value)`
-- Raises: -
-- Locks:  none
-- Plan:   no table; one exception block per field, which a call that is about to fail can afford
-- Twin:   inside mssql/sql/procedures/EnqueueTasks.sql (TRY_CONVERT)
create or replace function taskgate._find_bad_entry(p_tasks text) returns text
language plpgsql as $$
declare
  r record;
  v_ignored text;
begin
  for r in
    select e.n - 1 as n, f.key, e.value ->> f.key as value
      from json_array_elements(p_tasks::json) with ordinality e(value, n)
     cross join lateral (values ('payload'), ('priority'), ('runInMs'), ('dedupeMs'), ('runAt')) f(key)
     where json_typeof(e.value) = 'object' and e.value ->> f.key is not null
     order by e.n
  loop
    begin
      case r.key
        when 'payload' then v_ignored := r.value::json::text;
        when 'priority' then v_ignored := r.value::int::text;
        when 'runAt' then if _instant(r.value) is null then raise data_exception; end if;
        else v_ignored := r.value::bigint::text;
      end case;
    exception when data_exception then
      return format('tasks[%s].%s: expected %s (%s)', r.n, r.key,
        case r.key when 'payload' then 'the text of a JSON object or array' when 'runAt' then 'an ISO-8601 instant with its zone' else 'a whole number' end, left(r.value, 100));
    end;
  end loop;
  return 'tasks: expected a JSON array of objects (' || left(p_tasks, 100) || ')';
end $$;
