-- Taskgate._WaitingBeside: definitions that could use tokens which shared limits have got back: they draw from one of them, tasks of theirs
-- are ready, and no execution of theirs would find these.
-- In:     @TaskDefinitionId int: the one whose execution gave the tokens; @Shared nvarchar(max): its shared limits; @Max int: the freed tokens
-- Out:    nvarchar(max): JSON array of at most so many ids: the next ones behind that definition, then from the first one on, so that each has
--         its turn; null: none
-- Raises: -
-- Locks:  none. The ids are read in a statement of their own: without row versions one statement would keep a limit's entry locked while it
--         waits for a definition's row, and a registration that has this row and drops that entry would close a circle
-- Plan:   IX_TaskDefinitionSharedLimit_SharedLimit; of each definition there one probe of PK_Ready, and one of its open executions
-- Twin:   postgres/sql/functions/_waiting_beside.sql
CREATE OR ALTER FUNCTION Taskgate._WaitingBeside (@TaskDefinitionId int, @Shared nvarchar(max), @Max int)
RETURNS nvarchar(max)
AS
BEGIN
  DECLARE @vIds nvarchar(max) = (
    SELECT STRING_AGG(CONVERT(nvarchar(max), b.TaskDefinitionId), N',')
    FROM (
      SELECT DISTINCT l.TaskDefinitionId
      FROM OPENJSON(N'[' + @Shared + N']') AS j
      INNER JOIN Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
        ON l.SharedLimitId = CONVERT(int, j.[value])
      WHERE l.TaskDefinitionId <> @TaskDefinitionId) AS b);
  RETURN (
    SELECT N'[' + STRING_AGG(CONVERT(nvarchar(max), w.TaskDefinitionId), N',') + N']'
    FROM (
      SELECT TOP (@Max) d.TaskDefinitionId
      FROM OPENJSON(N'[' + @vIds + N']') AS j
      INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = CONVERT(int, j.[value])
      WHERE d.Paused = 0 AND Taskgate._HasReady(d.TaskDefinitionId) = 1
        AND NOT EXISTS (
          SELECT 1 FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
          WHERE e.TaskDefinitionId = d.TaskDefinitionId AND e.State IN (1, 3) AND e.State = 1)
      ORDER BY CASE WHEN d.TaskDefinitionId < @TaskDefinitionId THEN 1 ELSE 0 END, d.TaskDefinitionId) AS w);
END;
