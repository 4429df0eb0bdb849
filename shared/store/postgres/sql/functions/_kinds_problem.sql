-- taskgate._kinds_problem: the error in the rules of kinds that a registration names.
-- In:     p_kinds text: JSON array of at most 1000 {kind, groupBy, isGroupComputed, priority, runInMs, dedupeBy, dedupeMs}, or null
-- Out:    text: field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_KindsProblem.sql
create or replace function taskgate._kinds_problem(p_kinds text) returns text
language sql immutable as $$
  select case
    when p_kinds is null then null
    when not taskgate._is_json_list(p_kinds) then 'kinds: expected a JSON array of objects (' || left(p_kinds, 200) || ')'
    when (select bool_or(json_typeof(j.value) <> 'object') from json_array_elements(p_kinds::json) j(value)) then 'kinds: expected a JSON array of objects (' || left(p_kinds, 200) || ')'
    else (
      select case
        when count(*) > 2000 then 'kinds: expected at most 1000 (' || count(*) / 2 || ')'
        when bool_or(x.kind is null or char_length(x.kind) not between 1 and 200 or x.kind <> btrim(x.kind))
          then 'kinds: expected names of 1..200 characters without blanks at either end (' || left(p_kinds, 200) || ')'
        when 2 * count(distinct x.kind) < count(*) then 'kinds: expected each name once (' || left(p_kinds, 200) || ')'
        when bool_or(p.path !~ '^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$' or char_length(p.path) > 200)
          then 'kinds: expected paths of names joined by dots, such as customer.id (' || left(p_kinds, 200) || ')'
        when bool_or(x.computed is not null and x.computed not in ('true', 'false') or x.group_by is not null and x.computed = 'true')
          then 'kinds: expected isGroupComputed true or false, and true only without groupBy (' || left(p_kinds, 200) || ')'
        when bool_or(x.priority !~ '^-?[0-9]{1,5}$' or x.priority::int not between -32768 and 32767)
          then 'kinds: expected priorities of -32768..32767 (' || left(p_kinds, 200) || ')'
        when bool_or(x.run_in_ms !~ '^[0-9]{1,13}$' or x.run_in_ms::bigint > 3153600000000)
          then 'kinds: expected runInMs of 0..3153600000000 (' || left(p_kinds, 200) || ')'
        when bool_or(x.dedupe_ms !~ '^[0-9]{1,13}$' or x.dedupe_ms::bigint not between 1 and 3153600000000 or x.dedupe_ms is not null and x.dedupe_by is null)
          then 'kinds: expected dedupeMs of 1..3153600000000, only with dedupeBy (' || left(p_kinds, 200) || ')' end
      from (select j.value ->> 'kind' as kind, j.value ->> 'groupBy' as group_by, j.value ->> 'isGroupComputed' as computed, j.value ->> 'priority' as priority,
                   j.value ->> 'runInMs' as run_in_ms, j.value ->> 'dedupeBy' as dedupe_by, j.value ->> 'dedupeMs' as dedupe_ms
              from json_array_elements(p_kinds::json) j(value)) x
     cross join lateral (values (x.group_by), (x.dedupe_by)) p(path))
  end
$$;
