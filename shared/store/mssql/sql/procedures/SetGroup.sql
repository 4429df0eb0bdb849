-- Taskgate.SetGroup: an operator's settings of a group; one that doesn't exist yet is made. Acts at once; such a group is never purged.
-- In:     @Name: the definition; @GroupKey 1..200 characters; @GroupScope: definition (null: so) | global;
--         @Slots int 1..1000, @Paused bit, @Strict bit: null leaves them, in a new group as the definition has them;
--         @ExpectedSlots int, @ExpectedPaused, @ExpectedStrict: only if the group is there and these are its settings; null: any
--         @ChangedBy (null: the login), @Reason for the audit, whose entries name the scope: own_group_slots, global_group_slots
-- Out:    Status: created | set | exists (they were so already) | conflict (they aren't as expected, or there is no such group: nothing
--           was written; old ones are those of the group, or null, new ones the same, or those that it would have); OldSlots, NewSlots int, OldPaused, NewPaused, OldStrict, NewStrict
--           bit: old ones null in a new group; Used int: slots in use, which may be more than the new ones: no running task is stopped, and
--           nothing is handed over until fewer are; Waiting int: tasks, counted up to 1000
--         Woken: JSON array of definitions that got ready tasks, or null
-- Raises: 50404 unknown definition; 50422 a value out of range; 50490 inside a transaction; 1222, 50423 locked for longer than 2 s
-- Locks:  its key as _LockKeys (an enqueue that makes it); TaskGroup, new rows of GroupKept, then as _HandOver
-- Isolation: a call that fills, frees or hands over slots holds the group's row; this call holds it from its first read to its end. No
--         other call makes the group meanwhile; a purge may remove it between look and lock: then it is made here.
--         A strict group's retry that has a slot keeps it until it ran, also under new settings
-- Plan:   unique names, primary keys; first entries of PK_GroupWaiting under the group
-- Once:   by value
-- Twin:   postgres/sql/functions/set_group.sql
CREATE OR ALTER PROCEDURE Taskgate.SetGroup
  @Name nvarchar(max), @GroupKey nvarchar(max), @GroupScope nvarchar(max), @Slots int, @Paused bit, @Strict bit,
  @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL,
  @ExpectedSlots int = NULL, @ExpectedPaused bit = NULL, @ExpectedStrict bit = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vDefinition int, @vScope int,
          @vKey nvarchar(200), @vGroupSlots smallint, @vGroupStrict bit, @vGroupId int, @vStatus nvarchar(20),
          @vOldSlots int, @vOldPaused bit, @vOldStrict bit, @vNewSlots int, @vNewPaused bit, @vNewStrict bit, @vUsed int, @vWaiting int, @vRows int,
          @vWokenIds nvarchar(max) = N'[]', @vMissed nvarchar(max);
  DECLARE @vLock Taskgate.KeyLockList;
  DECLARE @vLeaving Taskgate.GroupedTaskList;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  EXEC Taskgate._CheckText @What = N'group_key', @Text = @GroupKey;
  IF @GroupScope COLLATE Latin1_General_100_BIN2 NOT IN (N'definition', N'global') OR DATALENGTH(@GroupScope) NOT IN (20, 12)
  BEGIN
    SET @vMessage = N'group_scope: expected definition or global (' + REPLACE(LEFT(@GroupScope, 220), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF @Slots IS NOT NULL EXEC Taskgate._CheckRange @What = N'slots', @Value = @Slots, @Min = 1, @Max = 1000;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  SELECT @vGroupSlots = d.GroupSlots, @vGroupStrict = d.GroupStrict
  FROM Taskgate.TaskDefinition AS d
  WHERE d.TaskDefinitionId = @vDefinition;
  SET @vKey = @GroupKey;
  SET @vScope = CASE WHEN @GroupScope = N'global' THEN 0 ELSE @vDefinition END;

  BEGIN TRY
    BEGIN TRANSACTION;
    INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'group', @vScope, @vKey));
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look: kept to the end
    SELECT @vGroupId = g.GroupId FROM Taskgate.TaskGroup AS g WHERE g.TaskDefinitionId = @vScope AND g.GroupKey = @vKey;
    SELECT @vOldSlots = g.Slots, @vOldPaused = g.Paused, @vOldStrict = g.Strict
    FROM Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- the same
    WHERE g.GroupId = @vGroupId;
    SET @vRows = @@ROWCOUNT;
    IF @vOldSlots <> @ExpectedSlots OR @vOldPaused <> @ExpectedPaused OR @vOldStrict <> @ExpectedStrict
      OR @vRows = 0 AND (@ExpectedSlots IS NOT NULL OR @ExpectedPaused IS NOT NULL OR @ExpectedStrict IS NOT NULL)
    BEGIN
      ROLLBACK TRANSACTION; -- nothing has been written
      SELECT N'conflict' AS [Status], @vOldSlots AS [OldSlots], COALESCE(@vOldSlots, @vGroupSlots) AS [NewSlots],
             @vOldPaused AS [OldPaused], CONVERT(bit, COALESCE(@vOldPaused, 0)) AS [NewPaused], @vOldStrict AS [OldStrict],
             COALESCE(@vOldStrict, @vGroupStrict) AS [NewStrict], 0 AS [Used], 0 AS [Waiting],
             CONVERT(nvarchar(max), NULL) AS [Woken];
      RETURN;
    END;
    IF @vRows = 0
    BEGIN
      INSERT INTO Taskgate.TaskGroup WITH (ROWLOCK) (TaskDefinitionId, GroupKey, Slots, Paused, Strict)
      VALUES (@vScope, @vKey, COALESCE(@Slots, @vGroupSlots), COALESCE(@Paused, 0), COALESCE(@Strict, @vGroupStrict));
      SELECT @vGroupId = g.GroupId, @vOldSlots = g.Slots, @vOldPaused = g.Paused, @vOldStrict = g.Strict
      FROM Taskgate.TaskGroup AS g WHERE g.TaskDefinitionId = @vScope AND g.GroupKey = @vKey;
      SET @vStatus = N'created';
    END;
    INSERT INTO Taskgate.GroupKept (GroupId)
    SELECT @vGroupId WHERE NOT EXISTS (SELECT 1 FROM Taskgate.GroupKept AS k WHERE k.GroupId = @vGroupId);
    SET @vNewSlots = COALESCE(@Slots, @vOldSlots);
    SET @vNewPaused = COALESCE(@Paused, @vOldPaused);
    SET @vNewStrict = COALESCE(@Strict, @vOldStrict);
    IF @vStatus IS NULL
      SET @vStatus = CASE WHEN @vNewSlots = @vOldSlots AND @vNewPaused = @vOldPaused AND @vNewStrict = @vOldStrict THEN N'exists'
                          ELSE N'set' END;
    ELSE SELECT @vOldSlots = NULL, @vOldPaused = NULL, @vOldStrict = NULL;
    IF @vStatus = N'set'
      UPDATE g
      SET Slots = @vNewSlots, Paused = @vNewPaused, Strict = @vNewStrict
      FROM Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- the row is ours already
      WHERE g.GroupId = @vGroupId;
    INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
    SELECT @vDefinition, CASE @vScope WHEN 0 THEN N'global_' ELSE N'own_' END + c.Setting, -- another group may have the same key
           c.OldValue + N' of ' + @vKey, c.NewValue + N' of ' + @vKey, N'operator', @ChangedBy, @Reason, @vNow
    FROM (VALUES
      (N'group_slots', CONVERT(nvarchar(20), @vOldSlots), CONVERT(nvarchar(20), @vNewSlots), 1),
      (N'group_paused', CASE @vOldPaused WHEN 1 THEN N'true' WHEN 0 THEN N'false' END,
       CASE @vNewPaused WHEN 1 THEN N'true' ELSE N'false' END, 2),
      (N'group_strict', CASE @vOldStrict WHEN 1 THEN N'true' WHEN 0 THEN N'false' END,
       CASE @vNewStrict WHEN 1 THEN N'true' ELSE N'false' END, 3)) AS c (Setting, OldValue, NewValue, Ord)
    WHERE c.OldValue IS NULL OR c.OldValue <> c.NewValue
    ORDER BY c.Ord;
    IF @vStatus = N'set'
    BEGIN
      INSERT INTO @vLeaving (TaskId, GroupId) VALUES (0, @vGroupId); -- no task leaves: free slots are filled
      EXEC Taskgate._HandOver @Leaving = @vLeaving, @oWoken = @vWokenIds OUTPUT;
    END;
    SELECT @vUsed = COUNT(*)
    FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) -- the group's few rows
    WHERE s.GroupId = @vGroupId;
    SELECT @vWaiting = COUNT(*)
    FROM (SELECT TOP (1000) w.TaskId
          FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK) -- the first entries, regardless of statistics
          WHERE w.GroupId = @vGroupId) AS x;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vOldSlots AS [OldSlots], @vNewSlots AS [NewSlots], @vOldPaused AS [OldPaused],
         @vNewPaused AS [NewPaused], @vOldStrict AS [OldStrict], @vNewStrict AS [NewStrict], @vUsed AS [Used], @vWaiting AS [Waiting],
         Taskgate._DefinitionNames(@vWokenIds, 0) AS [Woken];
END;
