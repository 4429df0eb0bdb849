-- taskgate._audit_problem: the error in the name or the reason of a change, or null.
-- In:     p_changed_by text: at most 200 characters; p_reason text: at most 400, or null
-- Out:    text: `field: expected .. (value)`
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_AuditProblem.sql
create or replace function taskgate._audit_problem(p_changed_by text, p_reason text) returns text
language sql immutable as $$
  select case when char_length(p_changed_by) > 200 then 'changed_by: expected at most 200 characters (' || left(p_changed_by, 220) || ')'
              when char_length(p_reason) > 400 then 'reason: expected at most 400 characters (' || left(p_reason, 420) || ')' end
$$;
