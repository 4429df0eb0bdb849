-- Taskgate._Shares: how a definition's tokens, or a shared limit's, are shared out: what the executions of a process hold together,
-- and those of others. A process counts once per definition that it works on: of one it may wait for what it holds of another.
-- In:     @Tokens nvarchar(max), @List varchar(max): as of _TokenEntries; @TaskDefinitionId int, @Worker nvarchar(200): the name of the process, and what it works on.
--           A shared limit's: its string, and a null @List
-- Rows:   one: Mine, Total int; Others int: how many others hold some; Poorest, Richest int: of all that hold some, 0: none does
-- Raises: -; tokens of a damaged string may be missing
-- Locks:  none; steps over rows that are locked by their own calls: for that moment such an execution counts as a process by itself
-- Plan:   the definition's range of PK_Token, or one pass over a shared limit's string; primary key of TaskExecution, once per holder
-- Twin:   postgres/sql/functions/_shares.sql
CREATE OR ALTER FUNCTION Taskgate._Shares (@Tokens nvarchar(max), @List varchar(max), @TaskDefinitionId int, @Worker nvarchar(200))
RETURNS TABLE
AS
RETURN
  SELECT COALESCE(SUM(CASE p.IsMine WHEN 1 THEN p.HeldCount ELSE 0 END), 0) AS Mine,
         COALESCE(SUM(p.HeldCount), 0) AS Total,
         COALESCE(SUM(CASE p.IsMine WHEN 1 THEN 0 ELSE 1 END), 0) AS Others,
         COALESCE(MIN(p.HeldCount), 0) AS Poorest,
         COALESCE(MAX(p.HeldCount), 0) AS Richest
  FROM (
    SELECT h.IsMine AS IsMine, SUM(h.HeldCount) AS HeldCount
    FROM (
      SELECT COALESCE(e.Worker, N'#' + CONVERT(nvarchar(20), g.Grantee)) AS Process, e.TaskDefinitionId AS TaskDefinitionId,
             CASE WHEN e.Worker = @Worker AND e.TaskDefinitionId = @TaskDefinitionId THEN 1 ELSE 0 END AS IsMine,
             g.HeldCount AS HeldCount
      FROM (SELECT t.Grantee AS Grantee, COUNT(*) AS HeldCount
            FROM Taskgate._TokenEntries(@TaskDefinitionId, @Tokens, @List) AS t
            WHERE t.IsHeld = 1
            GROUP BY t.Grantee) AS g
      LEFT JOIN Taskgate.TaskExecution AS e WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- once per holder; versions or not, no wait
        ON e.TaskExecutionId = g.Grantee) AS h
    GROUP BY h.Process, h.TaskDefinitionId, h.IsMine) AS p;
