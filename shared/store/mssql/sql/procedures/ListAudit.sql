-- Taskgate.ListAudit: who changed what and why, newest first: settings, and the calls that _AuditCall writes.
-- In:     @Object: a definition, group, shared limit, schedule, watermark, `batch ID`, or the id of a task, or null; @Action: name of
--         an operation, or null; @ChangedBy: the actor, or null; @Since, @Before: ISO-8601 instants, or null; @Max int 1..100
-- Out:    Status: listed; Entries: JSON array of {at, action: the operation, setting: its name or null, definition: or null, object: name
--         of what isn't a definition, or null, tasks: the first 1000 ids or null, taskCount: or null, old, new: values of a setting,
--         source: code | operator, actor, reason}
-- Raises: 50422 @Max out of range, an instant that can't be read; 50490 inside a transaction
-- Locks:  none
-- Isolation: several reads, each as of its own moment
-- Plan:   PK_SettingAudit and PK_CallAudit from their new ends, calls between the two instants: a filter that few entries meet reads
--         all of them; enqueues, which are most, only where they may meet it
-- Once:   a read
-- Twin:   postgres/sql/functions/list_audit.sql
CREATE OR ALTER PROCEDURE Taskgate.ListAudit
  @Object nvarchar(max), @Action nvarchar(max), @ChangedBy nvarchar(max), @Since nvarchar(max), @Before nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vMessage nvarchar(2048), @vSince datetime2(3) = COALESCE(Taskgate._Instant(@Since), '0001-01-01'),
          @vBefore datetime2(3) = COALESCE(Taskgate._Instant(@Before), '9999-12-31'), @vObject nvarchar(400), @vAction nvarchar(100),
          @vChangedBy nvarchar(200), @vEntries nvarchar(max);
  DECLARE @vEntry TABLE (
    IsCall bit NOT NULL, Id bigint NOT NULL, ChangedAt datetime2(3) NOT NULL, Action nvarchar(100) NOT NULL, Setting nvarchar(100) NULL,
    Definition nvarchar(200) NULL, Object nvarchar(400) NULL, TaskIds nvarchar(max) NULL, TaskCount int NULL, OldValue nvarchar(400) NULL,
    NewValue nvarchar(400) NULL, Source nvarchar(20) NOT NULL, ChangedBy nvarchar(200) NOT NULL, Reason nvarchar(400) NULL,
    PRIMARY KEY CLUSTERED (IsCall, Id));

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 100;
  IF @Since IS NOT NULL AND Taskgate._Instant(@Since) IS NULL
    SET @vMessage = N'since: expected an ISO-8601 instant with its zone (' + REPLACE(LEFT(@Since, 100), N'%', N'%%') + N')';
  ELSE IF @Before IS NOT NULL AND Taskgate._Instant(@Before) IS NULL
    SET @vMessage = N'before: expected an ISO-8601 instant with its zone (' + REPLACE(LEFT(@Before, 100), N'%', N'%%') + N')';
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  -- A text that is too long, or ends in blanks, matches no row; a comparison would truncate it.
  SELECT @vObject = CASE WHEN @Object IS NULL OR DATALENGTH(@Object) <= 800 AND DATALENGTH(@Object) = DATALENGTH(RTRIM(@Object)) THEN @Object ELSE N'' END,
         @vAction = CASE WHEN @Action IS NULL OR DATALENGTH(@Action) <= 200 AND DATALENGTH(@Action) = DATALENGTH(RTRIM(@Action)) THEN @Action ELSE N'' END,
         @vChangedBy = CASE WHEN @ChangedBy IS NULL OR DATALENGTH(@ChangedBy) <= 400 AND DATALENGTH(@ChangedBy) = DATALENGTH(RTRIM(@ChangedBy)) THEN @ChangedBy ELSE N'' END;

  -- 1. Settings.
  INSERT INTO @vEntry (IsCall, Id, ChangedAt, Action, Setting, Definition, Object, OldValue, NewValue, Source, ChangedBy, Reason)
  SELECT TOP (@Max) 0, a.SettingAuditId, a.ChangedAt, n.Action, a.Setting, d.Name, o.Object,
         CASE WHEN n.IsNamed = 1 THEN LEFT(a.OldValue, COALESCE(NULLIF(CHARINDEX(N' of ', a.OldValue), 0) - 1, 400)) ELSE a.OldValue END,
         CASE WHEN n.IsNamed = 1 THEN LEFT(a.NewValue, COALESCE(NULLIF(CHARINDEX(N' of ', a.NewValue), 0) - 1, 400)) ELSE a.NewValue END,
         a.Source, a.ChangedBy, a.Reason
  FROM Taskgate.SettingAudit AS a WITH (INDEX (PK_SettingAudit)) -- the newest: ids grow with time
  CROSS APPLY (
    SELECT COALESCE(a.NewValue, a.OldValue) AS Value,
           CASE WHEN a.Setting IN (N'shared_limit', N'shared_limit_override', N'schedule', N'schedule_paused', N'watermark')
                  OR LEFT(a.Setting, 10) = N'own_group_' OR LEFT(a.Setting, 13) = N'global_group_' THEN 1 ELSE 0 END AS IsNamed,
           CASE WHEN a.Setting = N'schedule' THEN N'set_schedules'
                WHEN a.Source = N'code' THEN N'register_definition'
                WHEN a.Setting = N'limit_override' THEN N'set_limit' WHEN a.Setting = N'rate_override' THEN N'set_rate'
                WHEN a.Setting = N'shared_limit_override' THEN N'set_shared_limit'
                WHEN a.Setting = N'paused' THEN CASE a.NewValue WHEN N'true' THEN N'pause_definition' ELSE N'resume_definition' END
                WHEN a.Setting = N'schedule_paused' THEN N'set_schedule_paused' WHEN a.Setting = N'watermark' THEN N'set_watermark'
                WHEN a.Setting = N'owner' THEN N'set_definition_owner'
                WHEN a.Setting = N'stop' THEN N'set_stop'
                ELSE N'set_group' END AS Action) AS n
  CROSS APPLY (SELECT CASE WHEN n.IsNamed = 1 THEN SUBSTRING(n.Value, NULLIF(CHARINDEX(N' of ', n.Value), 0) + 4, 400) END AS Object) AS o
  LEFT JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = a.TaskDefinitionId
  WHERE a.ChangedAt >= @vSince AND a.ChangedAt < @vBefore
    AND (@vAction IS NULL OR n.Action = @vAction COLLATE Latin1_General_100_BIN2)
    AND (@vChangedBy IS NULL OR a.ChangedBy = @vChangedBy COLLATE Latin1_General_100_BIN2)
    AND (@vObject IS NULL OR d.Name = @vObject OR o.Object = @vObject COLLATE Latin1_General_100_BIN2)
  ORDER BY a.SettingAuditId DESC
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per entry

  -- 2. Calls, each kind from its new end.
  INSERT INTO @vEntry (IsCall, Id, ChangedAt, Action, Definition, Object, TaskIds, TaskCount, Source, ChangedBy, Reason)
  SELECT 1, x.CallAuditId, x.ChangedAt, x.Action, x.Name, N'batch ' + CONVERT(nvarchar(20), x.BatchId), x.TaskIds,
         CASE WHEN x.BatchId IS NULL THEN x.TaskCount END, N'operator', x.ChangedBy, x.Reason
  FROM (VALUES (CONVERT(bit, 0)), (CONVERT(bit, 1))) AS e (IsEnqueue)
  CROSS APPLY (
    SELECT TOP (@Max) c.CallAuditId, c.ChangedAt, c.Action, d.Name, c.BatchId, c.TaskIds, c.TaskCount, c.ChangedBy, c.Reason
    FROM Taskgate.CallAudit AS c WITH (FORCESEEK) -- between the two instants
    LEFT JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = c.TaskDefinitionId
    WHERE c.IsEnqueue = e.IsEnqueue AND c.ChangedAt >= @vSince AND c.ChangedAt < @vBefore
      AND (@vAction IS NULL OR c.Action = @vAction COLLATE Latin1_General_100_BIN2)
      AND (@vChangedBy IS NULL OR c.ChangedBy = @vChangedBy COLLATE Latin1_General_100_BIN2)
      AND (@vObject IS NULL OR d.Name = @vObject
           OR N'batch ' + CONVERT(nvarchar(20), c.BatchId) = @vObject COLLATE Latin1_General_100_BIN2
           OR CHARINDEX(N'"' + @vObject + N'"', c.TaskIds) > 0)
    ORDER BY c.ChangedAt DESC, c.CallAuditId DESC) AS x
  WHERE @vAction IS NULL OR e.IsEnqueue = CASE WHEN @vAction = N'enqueue_tasks' THEN 1 ELSE 0 END
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per entry

  SELECT @vEntries = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), N'{"at":"' + Taskgate._Iso(x.ChangedAt)
           + N'","action":"' + STRING_ESCAPE(x.Action, 'json')
           + N'","setting":' + COALESCE(N'"' + STRING_ESCAPE(x.Setting, 'json') + N'"', N'null')
           + N',"definition":' + COALESCE(N'"' + STRING_ESCAPE(x.Definition, 'json') + N'"', N'null')
           + N',"object":' + COALESCE(N'"' + STRING_ESCAPE(x.Object, 'json') + N'"', N'null')
           + N',"tasks":' + COALESCE(x.TaskIds, N'null') + N',"taskCount":' + COALESCE(CONVERT(nvarchar(11), x.TaskCount), N'null')
           + N',"old":' + COALESCE(N'"' + STRING_ESCAPE(x.OldValue, 'json') + N'"', N'null')
           + N',"new":' + COALESCE(N'"' + STRING_ESCAPE(x.NewValue, 'json') + N'"', N'null')
           + N',"source":"' + STRING_ESCAPE(x.Source, 'json') + N'","actor":"' + STRING_ESCAPE(x.ChangedBy, 'json')
           + N'","reason":' + COALESCE(N'"' + STRING_ESCAPE(x.Reason, 'json') + N'"', N'null') + N'}'), N',')
           WITHIN GROUP (ORDER BY x.ChangedAt DESC, x.IsCall DESC, x.Id DESC), N'') + N']'
  FROM (SELECT TOP (@Max) y.IsCall, y.Id, y.ChangedAt, y.Action, y.Setting, y.Definition, y.Object, y.TaskIds, y.TaskCount, y.OldValue,
               y.NewValue, y.Source, y.ChangedBy, y.Reason
        FROM @vEntry AS y
        ORDER BY y.ChangedAt DESC, y.IsCall DESC, y.Id DESC) AS x;
  SELECT N'listed' AS [Status], @vEntries AS [Entries];
END;
