-- Taskgate.ListFailures: dead tasks put together by definition, kind and error, with their ids.
-- In:     @Name: of one definition, or null: of all; @Max int 1..5000: so many dead tasks are looked at, the newest of each definition;
--           of all definitions the same number of each, at least 10
-- Out:    Status: listed; LookedAt int: dead tasks looked at; IsWhole: there are no others; Failures: JSON array, most first, of
--           {definition, kind, error: its first 300 characters without blanks at the end, or null, count, firstAt, lastAt: when they ended,
--           tasks: ids joined by commas, newest first}
-- Raises: 50404 unknown definition; 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: a task that is redriven between the two reads is looked at, and left out
-- Plan:   IX_Archive_Finished backwards per definition; then one seek per task; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_failures.sql
CREATE OR ALTER PROCEDURE Taskgate.ListFailures
  @Name nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vDefinition int, @vEach int, @vLookedAt int, @vIsWhole bit = 1, @vFailures nvarchar(max);
  DECLARE @vFrom TABLE (TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL);
  DECLARE @vSeen TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, FinishedAt datetime2(3) NOT NULL, N int NOT NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 5000;
  IF @Name IS NOT NULL EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  INSERT INTO @vFrom (TaskDefinitionId, Name)
  SELECT d.TaskDefinitionId, d.Name
  FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them, or one
  WHERE (@Name IS NULL OR d.TaskDefinitionId = @vDefinition)
    AND EXISTS (SELECT 1 FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Finished)) -- one probe per definition
                WHERE a.TaskDefinitionId = d.TaskDefinitionId AND a.Outcome = 11)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN);
  SET @vEach = @@ROWCOUNT;
  SET @vEach = CASE WHEN @Name IS NOT NULL OR @vEach = 0 THEN @Max WHEN @Max / @vEach < 10 THEN 10 ELSE @Max / @vEach END;

  -- 1. The entries of the index: one more of each definition than is looked at.
  INSERT INTO @vSeen (TaskId, TaskDefinitionId, FinishedAt, N)
  SELECT a.TaskId, f.TaskDefinitionId, a.FinishedAt, a.N
  FROM @vFrom AS f
  CROSS APPLY (
    SELECT x.TaskId, x.FinishedAt, ROW_NUMBER() OVER (ORDER BY x.FinishedAt DESC, x.TaskId DESC) AS N
    FROM (
      SELECT TOP (@vEach + 1) y.TaskId, y.FinishedAt
      FROM Taskgate.Archive AS y WITH (INDEX (IX_Archive_Finished)) -- backwards; covers this read
      WHERE y.TaskDefinitionId = f.TaskDefinitionId AND y.Outcome = 11
      ORDER BY y.FinishedAt DESC, y.TaskId DESC) AS x) AS a
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per definition
  DELETE s FROM @vSeen AS s WHERE s.N > @vEach;
  IF @@ROWCOUNT > 0 SET @vIsWhole = 0;
  SELECT @vLookedAt = COUNT(*) FROM @vSeen AS s;

  -- 2. The tasks, by key.
  SELECT @vFailures = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"definition":"') COLLATE Latin1_General_100_BIN2
           + STRING_ESCAPE(g.Name, 'json')
           + N'","kind":"' + STRING_ESCAPE(g.Kind, 'json')
           + N'","error":' + COALESCE(N'"' + STRING_ESCAPE(g.Error, 'json') + N'"', N'null')
           + N',"count":' + CONVERT(nvarchar(11), g.N)
           + N',"firstAt":"' + Taskgate._Iso(g.FirstAt)
           + N'","lastAt":"' + Taskgate._Iso(g.LastAt)
           + N'","tasks":"' + g.Ids + N'"}', N',')
           WITHIN GROUP (ORDER BY g.N DESC, g.LastAt DESC, g.Ids) + N']'
  FROM (
    SELECT f.Name, a.Kind, e.Error, COUNT(*) AS N, MIN(s.FinishedAt) AS FirstAt, MAX(s.FinishedAt) AS LastAt,
           STRING_AGG(CONVERT(nvarchar(max), s.TaskId) COLLATE Latin1_General_100_BIN2, N',')
             WITHIN GROUP (ORDER BY s.FinishedAt DESC, s.TaskId DESC) AS Ids
    FROM @vSeen AS s
    INNER JOIN Taskgate.Archive AS a WITH (INDEX (PK_Archive)) ON a.TaskId = s.TaskId
    INNER JOIN @vFrom AS f ON f.TaskDefinitionId = s.TaskDefinitionId
    CROSS APPLY (
      SELECT RTRIM(CONVERT(nvarchar(300), LEFT(COALESCE(CONVERT(nvarchar(max), a.ErrorUtf8) COLLATE Latin1_General_100_BIN2, a.Error), 300)))
               COLLATE Latin1_General_100_BIN2 AS Error) AS e
    GROUP BY f.Name, a.Kind, e.Error) AS g
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  SELECT N'listed' AS [Status], @vLookedAt AS [LookedAt], @vIsWhole AS [IsWhole], COALESCE(@vFailures, N'[]') AS [Failures];
END;
