-- Taskgate._Shares: how a definition's tokens are shared out: what the executions of a process hold together, and those of others.
-- In:     @Tokens nvarchar(max): a definition's; @Worker nvarchar(200): the name of the process
-- Rows:   one: Mine, Total int; Others int: how many other processes hold some; Poorest, Richest int: of all that hold some, 0: none does
-- Raises: -; tokens of a damaged string may be missing
-- Locks:  none; steps over rows that are locked by their own calls: for that moment such an execution counts as a process by itself
-- Plan:   primary key of TaskExecution, once per holder
-- Twin:   postgres/sql/functions/_shares.sql
CREATE OR ALTER FUNCTION Taskgate._Shares (@Tokens nvarchar(max), @Worker nvarchar(200))
RETURNS TABLE
AS
RETURN
  SELECT COALESCE(SUM(CASE WHEN p.Process = @Worker THEN p.HeldCount ELSE 0 END), 0) AS Mine,
         COALESCE(SUM(p.HeldCount), 0) AS Total,
         COALESCE(SUM(CASE WHEN p.Process <> @Worker THEN 1 ELSE 0 END), 0) AS Others,
         COALESCE(MIN(p.HeldCount), 0) AS Poorest,
         COALESCE(MAX(p.HeldCount), 0) AS Richest
  FROM (
    SELECT h.Process AS Process, SUM(h.HeldCount) AS HeldCount
    FROM (
      SELECT COALESCE(e.Worker, N'#' + CONVERT(nvarchar(20), g.Grantee)) AS Process, g.HeldCount AS HeldCount
      FROM (SELECT t.Grantee AS Grantee, COUNT(*) AS HeldCount
            FROM Taskgate._ReadTokens(@Tokens) AS t
            WHERE t.IsHeld = 1
            GROUP BY t.Grantee) AS g
      LEFT JOIN Taskgate.TaskExecution AS e WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- once per holder; versions or not, no wait
        ON e.TaskExecutionId = g.Grantee) AS h
    GROUP BY h.Process) AS p;
