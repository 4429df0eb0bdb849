-- Taskgate.ListGroups: groups with their slots and the tasks that wait: first groups with waiting tasks, as far as they are among the 1000 oldest of these (with a definition: of its own), both by definition as registered, then key, global ones first.
-- In:     @Name: the definition, or null for all and the global ones; @GroupKey: only this key, or null; @Max int 1..1000
-- Out:    Status: listed; Groups: JSON array of {definition: null of a global group, key, slots, used, waiting (counted up to 1000),
--           paused, strict}
-- Raises: 50404 unknown definition; 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: each group's numbers are as of one moment, of different groups maybe of different ones
-- Plan:   GroupWaiting as far as the 1000th group, with a definition by IX_GroupWaiting_Definition; UQ_TaskGroup_Key in its order, with a definition only its part; the slots and the first waiters
--         of each group; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_groups.sql
CREATE OR ALTER PROCEDURE Taskgate.ListGroups
  @Name nvarchar(max), @GroupKey nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vKey nvarchar(200), @vDefinition int, @vGroups nvarchar(max),
          @vFirst int;
  DECLARE @vWaiting TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vListed TABLE (N int NOT NULL PRIMARY KEY CLUSTERED, GroupId int NOT NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  IF DATALENGTH(@GroupKey) <= 400 SET @vKey = @GroupKey; -- a longer key matches no row either
  IF @Name IS NOT NULL EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  -- 1. Groups with waiting tasks.
  IF @Name IS NULL
    INSERT INTO @vWaiting (GroupId)
    SELECT TOP (1000) w.GroupId
    FROM Taskgate.GroupWaiting AS w WITH (INDEX (PK_GroupWaiting)) -- in its order, as far as the last of them
    GROUP BY w.GroupId
    ORDER BY w.GroupId;
  ELSE
    INSERT INTO @vWaiting (GroupId)
    SELECT TOP (1000) w.GroupId
    FROM Taskgate.GroupWaiting AS w WITH (INDEX (IX_GroupWaiting_Definition), FORCESEEK) -- the definition's, likewise
    WHERE w.TaskDefinitionId = @vDefinition
    GROUP BY w.GroupId
    ORDER BY w.GroupId;
  INSERT INTO @vListed (N, GroupId)
  SELECT TOP (@Max) ROW_NUMBER() OVER (ORDER BY g.TaskDefinitionId, g.GroupKey), g.GroupId
  FROM @vWaiting AS w
  INNER JOIN Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup)) ON g.GroupId = w.GroupId
  WHERE (@Name IS NULL OR g.TaskDefinitionId = @vDefinition)
    AND (@GroupKey IS NULL OR (g.GroupKey = @GroupKey COLLATE Latin1_General_100_BIN2 AND DATALENGTH(g.GroupKey) = DATALENGTH(@GroupKey)))
  ORDER BY g.TaskDefinitionId, g.GroupKey
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
  SET @vFirst = @@ROWCOUNT;
  -- 2. The rest. First the index entries, then the rows by key: no other call waits between index and row.
  IF @Name IS NOT NULL AND @GroupKey IS NOT NULL
    INSERT INTO @vListed (N, GroupId)
    SELECT 1, g.GroupId
    FROM Taskgate.TaskGroup AS g WITH (INDEX (UQ_TaskGroup_Key)) -- the whole key; covers this read
    WHERE g.TaskDefinitionId = @vDefinition AND g.GroupKey = @vKey AND DATALENGTH(g.GroupKey) = DATALENGTH(@vKey)
      AND NOT EXISTS (SELECT 1 FROM @vWaiting AS w WHERE w.GroupId = g.GroupId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per group
  ELSE IF @Name IS NOT NULL
    INSERT INTO @vListed (N, GroupId)
    SELECT TOP (@Max - @vFirst) @vFirst + ROW_NUMBER() OVER (ORDER BY g.GroupKey), g.GroupId
    FROM Taskgate.TaskGroup AS g WITH (INDEX (UQ_TaskGroup_Key), FORCESEEK) -- the definition's, in its order; covers this read
    WHERE g.TaskDefinitionId = @vDefinition AND NOT EXISTS (SELECT 1 FROM @vWaiting AS w WHERE w.GroupId = g.GroupId)
    ORDER BY g.GroupKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per group
  ELSE
    INSERT INTO @vListed (N, GroupId)
    SELECT TOP (@Max - @vFirst) @vFirst + ROW_NUMBER() OVER (ORDER BY g.TaskDefinitionId, g.GroupKey), g.GroupId
    FROM Taskgate.TaskGroup AS g WITH (INDEX (UQ_TaskGroup_Key)) -- in its order; covers this read
    WHERE (@GroupKey IS NULL
        OR (g.GroupKey = @GroupKey COLLATE Latin1_General_100_BIN2 AND DATALENGTH(g.GroupKey) = DATALENGTH(@GroupKey)))
      AND NOT EXISTS (SELECT 1 FROM @vWaiting AS w WHERE w.GroupId = g.GroupId)
    ORDER BY g.TaskDefinitionId, g.GroupKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per group
  SELECT @vGroups = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"definition":') COLLATE Latin1_General_100_BIN2
           + COALESCE(N'"' + STRING_ESCAPE(d.Name, 'json') + N'"', N'null')
           + N',"key":"' + STRING_ESCAPE(g.GroupKey, 'json')
           + N'","slots":' + CONVERT(nvarchar(11), g.Slots)
           + N',"used":' + CONVERT(nvarchar(11), u.Used)
           + N',"waiting":' + CONVERT(nvarchar(11), w.Waiting)
           + N',"paused":' + CASE g.Paused WHEN 1 THEN N'true' ELSE N'false' END
           + N',"strict":' + CASE g.Strict WHEN 1 THEN N'true' ELSE N'false' END + N'}', N',') WITHIN GROUP (ORDER BY x.N) + N']'
  FROM @vListed AS x
  INNER JOIN Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup)) ON g.GroupId = x.GroupId
  LEFT JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = g.TaskDefinitionId
  CROSS APPLY (
    SELECT COUNT(*) AS Used
    FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) -- the group's few rows
    WHERE s.GroupId = x.GroupId) AS u
  CROSS APPLY (
    SELECT COUNT(*) AS Waiting
    FROM (SELECT TOP (1000) y.TaskId
          FROM Taskgate.GroupWaiting AS y WITH (FORCESEEK) -- the first entries, regardless of statistics
          WHERE y.GroupId = x.GroupId) AS z) AS w
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
  SELECT N'listed' AS [Status], COALESCE(@vGroups, N'[]') AS [Groups];
END;
