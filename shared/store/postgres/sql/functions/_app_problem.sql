-- taskgate._app_problem: the error in the name of an app.
-- In:     p_app text
-- Out:    text: field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   mssql/sql/functions/_AppProblem.sql
create or replace function taskgate._app_problem(p_app text) returns text
language sql immutable as $$
  select case when p_app is null or char_length(p_app) not between 1 and 200 or p_app <> btrim(p_app)
              then 'app: expected 1..200 characters without blanks at either end (' || coalesce(left(p_app, 160), 'null') || ')' end
$$;
