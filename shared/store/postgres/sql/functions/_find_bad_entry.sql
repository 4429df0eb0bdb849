-- taskgate._find_bad_entry: which entry of an enqueue can't be read, and why. Only for the error message.
-- In:     p_tasks text: a JSON array
-- Out:    text: `tasks[n].field: expected .. (value)`
-- Raises: -
-- Locks:  none
-- Plan:   no table; one exception block per field, which a call that is about to fail can afford
-- Twin:   inside mssql/sql/functions/_ReadTasks.sql (TRY_CONVERT)
create or replace function taskgate._find_bad_entry(p_tasks text) returns text
language plpgsql as $$
declare
  -- U+0000 and half of a surrogate pair, which json can't read, become U+FFFF, as in _payload_key.
  v_tasks json := regexp_replace(replace(p_tasks, '\\', '\u005c'),
                    '\\u(?:0000|[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})', '\\uffff', 'g');
  r record;
  v_ignored text;
begin
  for r in
    select e.n - 1 as n, f.key, f.expected, e.value ->> f.key as value, json_typeof(e.value -> f.key) in ('object', 'array') as is_nested
      from json_array_elements(v_tasks) with ordinality e(value, n)
     cross join lateral (values ('payload', 'the text of a JSON object or array'), ('priority', 'a whole number'), ('runInMs', 'a whole number'),
                                ('dedupeMs', 'a whole number'), ('runAt', 'an ISO-8601 instant with its zone'),
                                ('kind', '1..200 characters without blanks at either end'), ('group', '1..200 characters without blanks at either end'),
                                ('groupScope', 'definition or global'), ('dedupeKey', '1..200 characters without blanks at either end'),
                                ('onDuplicate', 'keep or replace'), ('trace', 'a W3C traceparent')) f(key, expected)
     where json_typeof(e.value) = 'object' and e.value ->> f.key is not null
     order by e.n
  loop
    if position(chr(65535) in r.value) > 0 and position('\u' in p_tasks) > 0 then
      return format('tasks[%s].%s: expected a text without U+0000 and half surrogate pairs (%s)', r.n, r.key, left(replace(r.value, chr(65535), chr(65533)), 100));
    end if;
    begin
      if r.key = 'payload' then
        v_ignored := r.value::json::text;
      elsif r.is_nested then
        raise data_exception;
      elsif r.key = 'priority' then
        v_ignored := r.value::int::text;
      elsif r.key = 'runAt' then
        if _instant(r.value) is null then raise data_exception; end if;
      elsif r.key in ('runInMs', 'dedupeMs') then
        v_ignored := r.value::bigint::text;
      end if;
    exception when data_exception or statement_too_complex then
      return format('tasks[%s].%s: expected %s (%s)', r.n, r.key, r.expected, left(r.value, 100));
    end;
  end loop;
  return 'tasks: expected a JSON array of objects (' || left(p_tasks, 100) || ')';
end $$;
