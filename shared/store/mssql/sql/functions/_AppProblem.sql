-- Taskgate._AppProblem: the error in the name of an app.
-- In:     @App nvarchar(max)
-- Out:    nvarchar(400): field, expected value, given value; null: no error
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_app_problem.sql
CREATE OR ALTER FUNCTION Taskgate._AppProblem (@App nvarchar(max))
RETURNS nvarchar(400)
AS
BEGIN
  RETURN CASE
    WHEN @App IS NULL OR DATALENGTH(@App) NOT BETWEEN 2 AND 400 OR DATALENGTH(@App) <> DATALENGTH(LTRIM(RTRIM(@App)))
      THEN N'app: expected 1..200 characters without blanks at either end (' + COALESCE(REPLACE(LEFT(@App, 160), N'%', N'%%'), N'null') + N')' END;
END;
