-- Taskgate._PurgeAudit: deletes entries of the audit of settings that are older than 400 days and were followed by another one of the
--         same: the last word on each setting of each definition, group, shared limit, schedule and watermark stays, however old. Entries of
--         calls go after 400 days, those of enqueues after 30.
-- In:     @Max int: entries of each kind; @Now
-- Out:    @oEntries int: rows deleted; @oMore bit: one kind fills its share
-- Raises: -
-- Locks:  SettingAudit, CallAudit by skip. Joins the caller's transaction, which holds nothing that others wait for behind an audit
-- Isolation: entries never change; found by plain reads, locked by key. CheckInvariants asks for the last entry of a group's slots only
-- Plan:   PK_SettingAudit from its old end, at most 1000 rows, one when that is young: an entry goes when the one that follows it is among
--         them, too. Both kinds of calls from their old ends; joins are loops in the written order
-- Twin:   postgres/sql/functions/_purge_audit.sql
CREATE OR ALTER PROCEDURE Taskgate._PurgeAudit
  @Max int, @Now datetime2(3), @oEntries int OUTPUT, @oMore bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vBefore datetime2(3) = DATEADD(DAY, -400, @Now), @vCount int;
  DECLARE @vEntry TABLE (
    SettingAuditId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Setting nvarchar(100) NOT NULL,
    Subject nvarchar(400) COLLATE Latin1_General_100_BIN2 NOT NULL, ChangedAt datetime2(3) NOT NULL);
  DECLARE @vLast TABLE (SettingAuditId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vDue TABLE (SettingAuditId bigint NOT NULL PRIMARY KEY CLUSTERED);

  SET @oMore = 0;
  -- 1. Calls. A slice of each kind, oldest first.
  DELETE a
  FROM (SELECT TOP (@Max) c.IsEnqueue, c.ChangedAt, c.CallAuditId
        FROM Taskgate.CallAudit AS c WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK) -- from the old end; skip, don't wait
        WHERE c.IsEnqueue = 0 AND c.ChangedAt < @vBefore
        ORDER BY c.ChangedAt, c.CallAuditId) AS a;
  SET @oEntries = @@ROWCOUNT;
  IF @oEntries = @Max SET @oMore = 1;
  DELETE a
  FROM (SELECT TOP (@Max) c.IsEnqueue, c.ChangedAt, c.CallAuditId
        FROM Taskgate.CallAudit AS c WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK) -- from the old end; skip, don't wait
        WHERE c.IsEnqueue = 1 AND c.ChangedAt < DATEADD(DAY, -30, @Now)
        ORDER BY c.ChangedAt, c.CallAuditId) AS a;
  SET @vCount = @@ROWCOUNT;
  IF @vCount = @Max SET @oMore = 1;
  SET @oEntries = @oEntries + @vCount;

  -- 2. Settings.
  IF NOT EXISTS (
    SELECT 1
    FROM (SELECT TOP (1) a.ChangedAt
          FROM Taskgate.SettingAudit AS a WITH (INDEX (PK_SettingAudit)) -- the oldest: ids grow with time
          ORDER BY a.SettingAuditId) AS x
    WHERE x.ChangedAt < @vBefore) RETURN;
  -- Values are written as `value of name`, no value with ` of ` in it; those of a definition's own settings name nothing.
  INSERT INTO @vEntry (SettingAuditId, TaskDefinitionId, Setting, Subject, ChangedAt)
  SELECT x.SettingAuditId, x.TaskDefinitionId, x.Setting,
         CASE WHEN x.Setting <> N'shared_limits' AND CHARINDEX(N' of ', x.Value) > 0 -- the one of them that is made of names
              THEN SUBSTRING(x.Value, CHARINDEX(N' of ', x.Value) + 4, 400) ELSE N'' END, x.ChangedAt
  FROM (
    SELECT TOP (1000) a.SettingAuditId, a.TaskDefinitionId, a.Setting,
           COALESCE(a.NewValue, a.OldValue, N'') COLLATE Latin1_General_100_BIN2 AS Value, a.ChangedAt
    FROM Taskgate.SettingAudit AS a WITH (INDEX (PK_SettingAudit)) -- the oldest: ids grow with time
    ORDER BY a.SettingAuditId) AS x;
  INSERT INTO @vLast (SettingAuditId)
  SELECT MAX(e.SettingAuditId) FROM @vEntry AS e GROUP BY e.TaskDefinitionId, e.Setting, e.Subject;
  INSERT INTO @vDue (SettingAuditId)
  SELECT TOP (@Max) e.SettingAuditId
  FROM @vEntry AS e
  WHERE e.ChangedAt < @vBefore AND NOT EXISTS (SELECT 1 FROM @vLast AS l WHERE l.SettingAuditId = e.SettingAuditId)
  ORDER BY e.SettingAuditId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per entry
  IF @@ROWCOUNT = @Max SET @oMore = 1;
  DELETE a
  FROM @vDue AS d
  INNER JOIN Taskgate.SettingAudit AS a WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_SettingAudit)) -- skip, don't wait
    ON a.SettingAuditId = d.SettingAuditId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per entry
  SET @oEntries = @oEntries + @@ROWCOUNT;
END;
