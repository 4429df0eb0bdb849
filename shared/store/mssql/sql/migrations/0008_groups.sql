-- 0008_groups: what lets go of groups that nobody needs. From here on a task names its group only while it holds a slot or waits for one.
-- Duration: one read of Archive and Task. Locks: their writers wait for that long. Old code beside it: runs on.
-- Twin: postgres/sql/migrations/0008_groups.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON; -- a filtered index asks for both
GO
-- Groups that an operator has set stay. Written under the group's row lock only.
CREATE TABLE Taskgate.GroupKept (
  GroupId int NOT NULL,
  CONSTRAINT PK_GroupKept PRIMARY KEY CLUSTERED (GroupId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- How far a purge has looked through the groups: one row, and one purge at a time.
CREATE TABLE Taskgate.GroupRound (
  RoundId tinyint NOT NULL,                         -- always 1
  LastGroupId int NOT NULL,                         -- 0: a round begins
  EndedAt datetime2(3) NOT NULL,                    -- of the last round
  CONSTRAINT PK_GroupRound PRIMARY KEY CLUSTERED (RoundId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO Taskgate.GroupRound (RoundId, LastGroupId, EndedAt) VALUES (1, 0, '2000-01-01');
GO
-- A task that may be redriven needs its group. One that is done names none.
CREATE NONCLUSTERED INDEX IX_Archive_Group ON Taskgate.Archive (GroupId) WHERE GroupId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
GO
-- What operators have set so far, as the audit tells it: `<value> of <key>`.
INSERT INTO Taskgate.GroupKept (GroupId)
SELECT g.GroupId
FROM Taskgate.TaskGroup AS g
WHERE g.Paused = 1 OR EXISTS (
  SELECT 1
  FROM Taskgate.SettingAudit AS a
  WHERE a.Setting IN (N'group_slots', N'group_paused', N'group_strict')
    AND (g.TaskDefinitionId = 0 OR a.TaskDefinitionId = g.TaskDefinitionId)
    AND SUBSTRING(a.NewValue, CHARINDEX(N' of ', a.NewValue) + 4, 400) COLLATE Latin1_General_100_BIN2 = g.GroupKey);
GO
UPDATE t
SET GroupId = NULL, PendingGroupKey = g.GroupKey, PendingGroupIsGlobal = CASE g.TaskDefinitionId WHEN 0 THEN 1 ELSE 0 END
FROM Taskgate.Task AS t
INNER JOIN Taskgate.TaskGroup AS g ON g.GroupId = t.GroupId
WHERE NOT EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS s WHERE s.GroupId = t.GroupId AND s.TaskId = t.TaskId)
  AND NOT EXISTS (
    SELECT 1 FROM Taskgate.GroupWaiting AS w
    WHERE w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId);
GO
