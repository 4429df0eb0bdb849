-- taskgate._shared_problem: the error in the shared limits that a registration names.
-- In:     p_shared_limits text: JSON array of at most 8 {name, limit}, or null
-- Out:    text: field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_SharedProblem.sql
create or replace function taskgate._shared_problem(p_shared_limits text) returns text
language sql immutable as $$
  select case
    when p_shared_limits is null then null
    when not taskgate._is_json_list(p_shared_limits) then 'shared_limits: expected a JSON array of {name, limit} (' || left(p_shared_limits, 200) || ')'
    else (
      select case
        when count(*) > 8 then 'shared_limits: expected at most 8 (' || count(*) || ')'
        when bool_or(x.name is null or char_length(x.name) not between 1 and 200 or x.name <> btrim(x.name))
          then 'shared_limits: expected names of 1..200 characters without blanks at either end (' || left(p_shared_limits, 200) || ')'
        when count(distinct x.name) < count(*) then 'shared_limits: expected each name once (' || left(p_shared_limits, 200) || ')'
        when bool_or(x.task_limit !~ '^-?[0-9]{1,4}$' or x.task_limit::int not between -1 and 1000)
          then 'shared_limits: expected limits of -1..1000 (' || left(p_shared_limits, 200) || ')' end
      from (select case when json_typeof(j.value -> 'name') not in ('array', 'object') then j.value ->> 'name' end as name, j.value ->> 'limit' as task_limit
              from json_array_elements(p_shared_limits::json) j(value)) x)
  end
$$;
