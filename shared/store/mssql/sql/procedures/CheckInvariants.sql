-- Taskgate.CheckInvariants: every invariant of limits, holders, containers and order that SQL can see, in the whole database. For tests and `taskgate doctor --deep`.
-- In:     -
-- Out:    Status: sound | broken; Findings: JSON array, at most 100 per rule, of {rule, key, detail}
-- Raises: 50490 inside a transaction
-- Locks:  none; on a busy database repeat a finding before believing it
-- Isolation: one statement, so with row versions everything is seen as of one moment
-- Plan:   reads everything
-- Once:   a read
-- Twin:   postgres/sql/functions/check_invariants.sql (two of its rules are about arrays, which there are none of here; one about counters, which a replica of SQL Server has as they stand)
CREATE OR ALTER PROCEDURE Taskgate.CheckInvariants
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vFindings nvarchar(max);
  DECLARE @vFinding TABLE (
    FindingId int IDENTITY(1,1) NOT NULL PRIMARY KEY CLUSTERED, RuleName nvarchar(100) NOT NULL, Item nvarchar(400) NULL,
    Detail nvarchar(400) NULL);

  -- Every index hint below names the table's own key: everything is read anyway.
  WITH Claimed AS (
    SELECT c.TaskId, c.TaskExecutionId, e.TaskDefinitionId, e.State
    FROM Taskgate.Claim AS c WITH (INDEX (PK_Claim)) -- all
    LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = c.TaskExecutionId),
  Standings AS (
    SELECT r.TaskId, N'ready' AS Place, r.TaskDefinitionId FROM Taskgate.Ready AS r WITH (INDEX (PK_Ready)) -- all
    UNION ALL
    SELECT s.TaskId, N'scheduled', s.TaskDefinitionId FROM Taskgate.Scheduled AS s WITH (INDEX (PK_Scheduled)) -- all
    UNION ALL
    SELECT w.TaskId, N'group_waiting', w.TaskDefinitionId FROM Taskgate.GroupWaiting AS w WITH (INDEX (PK_GroupWaiting)) -- all
    UNION ALL
    SELECT h.TaskId, N'wave_blocked', h.TaskDefinitionId FROM Taskgate.WaveBlocked AS h WITH (INDEX (PK_WaveBlocked)) -- all
    UNION ALL
    SELECT c.TaskId, N'claimed', c.TaskDefinitionId FROM Claimed AS c),
  Limits AS ( -- of definitions, and those that definitions share
    SELECT CONVERT(bit, 0) AS IsShared, d.TaskDefinitionId AS LimitId, d.Name, d.ExecutionTokens COLLATE Latin1_General_100_BIN2 AS ExecutionTokens, d.TokenList,
           COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit) AS TaskLimit,
           CASE WHEN d.ExecutionTokens IN (N'', N'rows') THEN d.HeldCount END AS HeldCount -- null: a string of before
    FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all
    UNION ALL
    SELECT CONVERT(bit, 1), s.SharedLimitId, s.Name, s.ExecutionTokens COLLATE Latin1_General_100_BIN2, NULL, COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit), NULL
    FROM Taskgate.SharedLimit AS s WITH (INDEX (PK_SharedLimit))), -- all
  Tokens AS (
    SELECT l.IsShared, l.LimitId, l.Name, l.TaskLimit, t.IsHeld, t.Grantee
    FROM Limits AS l
    CROSS APPLY Taskgate._TokenEntries(CASE l.IsShared WHEN 0 THEN l.LimitId END, l.ExecutionTokens, l.TokenList) AS t
    WHERE NOT EXISTS ( -- rows of Token, and strings that can be read
      SELECT 1 FROM Taskgate._TokenEntries(CASE l.IsShared WHEN 0 THEN l.LimitId END, l.ExecutionTokens, l.TokenList) AS x
      WHERE x.TokenId IS NULL OR x.IsHeld IS NULL OR x.Grantee IS NULL)),
  Counted AS ( -- tokens by execution: in rows and strings, and as counted on the executions under a limit; of each shared limit apart
    SELECT t.IsShared, CASE t.IsShared WHEN 1 THEN t.Name + N'/' ELSE N'' END AS Part, t.Grantee AS TaskExecutionId, 1 AS InString, 0 AS InCount
    FROM Tokens AS t WHERE t.IsHeld = 1
    UNION ALL
    SELECT 0, N'', e.TaskExecutionId, 0, e.TokenCount
    FROM Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution)) -- all
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = e.TaskDefinitionId
    WHERE COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit) <> -1
    UNION ALL
    SELECT 1, s.Name + N'/', e.TaskExecutionId, 0, e.TokenCount
    FROM Taskgate.SharedLimit AS s WITH (INDEX (PK_SharedLimit)) -- all
    INNER JOIN Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
      ON l.SharedLimitId = s.SharedLimitId
    INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution)) ON e.TaskDefinitionId = l.TaskDefinitionId -- all
    WHERE COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit) <> -1),
  Slots AS (
    SELECT s.GroupId, COUNT(*) AS Used
    FROM Taskgate.GroupSlot AS s WITH (INDEX (PK_GroupSlot)) -- all
    GROUP BY s.GroupId)
  INSERT INTO @vFinding (RuleName, Item, Detail)
  SELECT f.RuleName, LEFT(f.Item, 400), LEFT(f.Detail, 400)
  FROM (
    SELECT r.RuleName, r.Item, r.Detail, ROW_NUMBER() OVER (PARTITION BY r.RuleName ORDER BY r.Item) AS N
    FROM (
      SELECT N'each unfinished task stands in exactly one place' AS RuleName,
             -- a collation in each branch: keys are BIN2, texts have the database's, and LEFT refuses what two of them leave without any
             CONVERT(nvarchar(20), t.TaskId) COLLATE Latin1_General_100_BIN2 AS Item,
             COALESCE(STRING_AGG(CONVERT(nvarchar(max), p.Place), N' and ') WITHIN GROUP (ORDER BY p.Place), N'nowhere') COLLATE Latin1_General_100_BIN2 AS Detail
      FROM Taskgate.Task AS t WITH (INDEX (PK_Task)) -- all
      LEFT JOIN Standings AS p ON p.TaskId = t.TaskId
      WHERE p.TaskId IS NOT NULL OR NOT EXISTS (SELECT 1 FROM Taskgate.Archive AS a WHERE a.TaskId = t.TaskId)
      GROUP BY t.TaskId
      HAVING COUNT(p.Place) <> 1
      UNION ALL
      SELECT N'a place holds only tasks that exist', CONVERT(nvarchar(20), p.TaskId) COLLATE Latin1_General_100_BIN2,
             p.Place COLLATE Latin1_General_100_BIN2
      FROM Standings AS p
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.Task AS t WHERE t.TaskId = p.TaskId)
      UNION ALL
      SELECT N'a task stands under its own definition', CONVERT(nvarchar(20), p.TaskId) COLLATE Latin1_General_100_BIN2,
             p.Place COLLATE Latin1_General_100_BIN2
      FROM Standings AS p
      INNER JOIN Taskgate.Task AS t ON t.TaskId = p.TaskId
      WHERE t.TaskDefinitionId <> p.TaskDefinitionId
      UNION ALL
      SELECT N'a task belongs to a definition', CONVERT(nvarchar(20), t.TaskId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), t.TaskDefinitionId) COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Task AS t WITH (INDEX (PK_Task)) -- all
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = t.TaskDefinitionId)
      UNION ALL
      SELECT N'a finished task is not unfinished, too', CONVERT(nvarchar(20), t.TaskId) COLLATE Latin1_General_100_BIN2,
             N'archive and task'
      FROM Taskgate.Task AS t WITH (INDEX (PK_Task)) -- all
      INNER JOIN Taskgate.Archive AS a ON a.TaskId = t.TaskId
      LEFT JOIN Standings AS p ON p.TaskId = t.TaskId
      WHERE p.TaskId IS NOT NULL OR a.Outcome <> 10 OR a.PayloadUtf8 IS NOT NULL -- a done one's row is its payload's home
      UNION ALL
      SELECT N'ready tasks carry their task''s order', CONVERT(nvarchar(20), r.TaskId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), r.Priority) + N'/' + CONVERT(nvarchar(20), r.Rank) + N' in ready, '
               + CONVERT(nvarchar(20), t.Priority) + N'/' + CONVERT(nvarchar(20), t.Rank) + N' in task' COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Ready AS r WITH (INDEX (PK_Ready)) -- all
      INNER JOIN Taskgate.Task AS t ON t.TaskId = r.TaskId
      WHERE r.Priority <> t.Priority OR r.Rank <> t.Rank
      UNION ALL
      SELECT N'only a live or not yet reclaimed execution holds claims', CONVERT(nvarchar(20), c.TaskExecutionId) COLLATE Latin1_General_100_BIN2,
             N'state ' + COALESCE(CONVERT(nvarchar(20), c.State), N'missing') COLLATE Latin1_General_100_BIN2
      FROM Claimed AS c
      WHERE c.State IS NULL OR c.State NOT IN (1, 3)
      UNION ALL
      SELECT CASE l.IsShared WHEN 1 THEN N'the token string of a shared limit can be read'
               ELSE N'the token string can be read' END,
             l.Name COLLATE Latin1_General_100_BIN2,
             LEFT(CASE WHEN DATALENGTH(l.ExecutionTokens) > 0 THEN l.ExecutionTokens ELSE CONVERT(nvarchar(max), l.TokenList) COLLATE Latin1_General_100_BIN2 END, 100)
               COLLATE Latin1_General_100_BIN2
      FROM Limits AS l
      WHERE EXISTS (
        SELECT 1 FROM Taskgate._TokenEntries(CASE l.IsShared WHEN 0 THEN l.LimitId END, l.ExecutionTokens, l.TokenList) AS t
        WHERE t.TokenId IS NULL OR t.IsHeld IS NULL OR t.Grantee IS NULL)
        OR DATALENGTH(l.ExecutionTokens) = 0 AND DATALENGTH(l.TokenList) > 0 AND ISJSON(CONVERT(nvarchar(max), l.TokenList)) = 0
      UNION ALL
      SELECT CASE l.IsShared WHEN 1 THEN N'a held token of a shared limit has a grantee'
               ELSE N'a held token has a grantee' END,
             l.Name COLLATE Latin1_General_100_BIN2, N'G:0'
      FROM Tokens AS l WHERE l.IsHeld = 1 AND l.Grantee = 0
      UNION ALL
      SELECT CASE l.IsShared WHEN 1 THEN N'tokens held of a shared limit equal tokens counted'
               ELSE N'tokens held equal tokens counted' END,
             l.Part + CONVERT(nvarchar(20), l.TaskExecutionId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), l.InString) + N' in the string, ' + CONVERT(nvarchar(20), l.InCount) + N' counted' COLLATE Latin1_General_100_BIN2
      FROM (SELECT c.IsShared, c.Part, c.TaskExecutionId, SUM(c.InString) AS InString, SUM(c.InCount) AS InCount
            FROM Counted AS c
            GROUP BY c.IsShared, c.Part, c.TaskExecutionId) AS l
      INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = l.TaskExecutionId
      WHERE l.InString <> l.InCount AND e.State = 1 -- what the dead held stays until the next asker comes
      UNION ALL
      SELECT N'the count of held tokens is that of the token string', l.Name COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), l.HeldCount) + N' counted, ' + CONVERT(nvarchar(20), h.Held) + N' in the string' COLLATE Latin1_General_100_BIN2
      FROM Limits AS l
      CROSS APPLY (
        SELECT COUNT(*) AS Held
        FROM Taskgate._TokenEntries(CASE l.IsShared WHEN 0 THEN l.LimitId END, l.ExecutionTokens, l.TokenList) AS t WHERE t.IsHeld = 1) AS h
      WHERE l.HeldCount <> h.Held
      UNION ALL
      SELECT CASE l.IsShared WHEN 1 THEN N'without a limit a shared limit has no token string'
               ELSE N'without a limit there is no token string' END,
             l.Name COLLATE Latin1_General_100_BIN2,
             LEFT(CASE WHEN l.ExecutionTokens IN (N'', N'rows') THEN x.Tokens ELSE l.ExecutionTokens END, 100) COLLATE Latin1_General_100_BIN2
      FROM Limits AS l
      CROSS APPLY (
        SELECT STRING_AGG(CONVERT(nvarchar(max), N'I:') COLLATE Latin1_General_100_BIN2 + LOWER(CONVERT(nchar(36), t.TokenId)) + N',S:'
                 + CASE t.IsHeld WHEN 1 THEN N'0' ELSE N'1' END + N',G:' + CONVERT(nvarchar(20), t.Grantee), N',') WITHIN GROUP (ORDER BY t.Ord) AS Tokens
        FROM Taskgate._TokenEntries(CASE l.IsShared WHEN 0 THEN l.LimitId END, l.ExecutionTokens, l.TokenList) AS t) AS x
      WHERE l.TaskLimit = -1 AND (l.ExecutionTokens NOT IN (N'', N'rows') OR x.Tokens IS NOT NULL)
      UNION ALL
      SELECT CASE l.IsShared WHEN 1 THEN N'free tokens do not exceed a shared limit'
               ELSE N'free tokens do not exceed the limit' END,
             l.Name COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), l.Tokens) + N' tokens, limit ' + CONVERT(nvarchar(20), l.TaskLimit) COLLATE Latin1_General_100_BIN2
      FROM (SELECT t.IsShared, t.LimitId, t.Name, t.TaskLimit, COUNT(*) AS Tokens, SUM(CASE t.IsHeld WHEN 1 THEN 1 ELSE 0 END) AS Held
            FROM Tokens AS t
            GROUP BY t.IsShared, t.LimitId, t.Name, t.TaskLimit) AS l
      WHERE l.Tokens > l.TaskLimit AND l.Tokens > l.Held
      UNION ALL
      SELECT N'a group fills at most its slots', CONVERT(nvarchar(20), g.GroupId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), s.Used) + N' of ' + CONVERT(nvarchar(20), g.Slots) COLLATE Latin1_General_100_BIN2
      FROM Slots AS s
      INNER JOIN Taskgate.TaskGroup AS g ON g.GroupId = s.GroupId
      WHERE s.Used > g.Slots AND NOT EXISTS ( -- a lowered limit stops no running task
        SELECT 1 FROM Taskgate.SettingAudit AS l WITH (INDEX (PK_SettingAudit)) -- all, for such a group only
        WHERE l.Setting IN (CASE g.TaskDefinitionId WHEN 0 THEN N'global_group_slots' ELSE N'own_group_slots' END,
                            N'group_slots') -- entries of before told no scope
          AND (g.TaskDefinitionId = 0 OR l.TaskDefinitionId = g.TaskDefinitionId)
          AND l.NewValue COLLATE Latin1_General_100_BIN2 = CONVERT(nvarchar(20), g.Slots) + N' of ' + g.GroupKey)
      UNION ALL
      SELECT N'a grouped task in ready or claimed holds one slot', CONVERT(nvarchar(20), t.TaskId) COLLATE Latin1_General_100_BIN2,
             p.Place + N', ' + CONVERT(nvarchar(20), n.Slots) + N' slots' COLLATE Latin1_General_100_BIN2
      FROM Standings AS p
      INNER JOIN Taskgate.Task AS t ON t.TaskId = p.TaskId
      CROSS APPLY (
        SELECT COUNT(*) AS Slots
        FROM Taskgate.GroupSlot AS s WITH (INDEX (PK_GroupSlot)) -- the group's range
        WHERE s.GroupId = t.GroupId AND s.TaskId = t.TaskId) AS n
      WHERE t.GroupId IS NOT NULL AND p.Place IN (N'ready', N'claimed') AND n.Slots <> 1
      UNION ALL
      SELECT N'a slot is held by a task of the group that may run', CONVERT(nvarchar(20), s.GroupId) + N'/' + CONVERT(nvarchar(20), s.Slot) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), s.TaskId) COLLATE Latin1_General_100_BIN2
      FROM Taskgate.GroupSlot AS s WITH (INDEX (PK_GroupSlot)) -- all
      WHERE NOT EXISTS (
        SELECT 1
        FROM Taskgate.Task AS t
        INNER JOIN Standings AS p ON p.TaskId = t.TaskId
        WHERE t.TaskId = s.TaskId AND t.GroupId = s.GroupId AND p.Place IN (N'ready', N'claimed', N'scheduled'))
      UNION ALL
      SELECT N'no task waits for a group that has a free slot', CONVERT(nvarchar(20), g.GroupId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), COALESCE(s.Used, 0)) + N' of ' + CONVERT(nvarchar(20), g.Slots) + N' slots used' COLLATE Latin1_General_100_BIN2
      FROM Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup)) -- all
      LEFT JOIN Slots AS s ON s.GroupId = g.GroupId
      WHERE g.Paused = 0 AND COALESCE(s.Used, 0) < g.Slots AND EXISTS (
        SELECT 1 FROM Taskgate.GroupWaiting AS w WITH (INDEX (PK_GroupWaiting)) -- one probe
        WHERE w.GroupId = g.GroupId)
      UNION ALL
      SELECT N'a task names its group while it holds a slot or waits for one', CONVERT(nvarchar(20), t.TaskId) COLLATE Latin1_General_100_BIN2,
             COALESCE(t.PendingGroupKey, p.Place COLLATE Latin1_General_100_BIN2) COLLATE Latin1_General_100_BIN2
      FROM Standings AS p
      INNER JOIN Taskgate.Task AS t ON t.TaskId = p.TaskId
      WHERE t.GroupId IS NOT NULL AND (t.PendingGroupKey IS NOT NULL OR (
        p.Place IN (N'scheduled', N'wave_blocked') AND NOT EXISTS (
          SELECT 1 FROM Taskgate.GroupSlot AS s WITH (INDEX (PK_GroupSlot)) -- the group's range
          WHERE s.GroupId = t.GroupId AND s.TaskId = t.TaskId)))
      UNION ALL
      SELECT N'a group that a row names exists', CONVERT(nvarchar(20), n.GroupId) COLLATE Latin1_General_100_BIN2,
             MIN(n.Place) COLLATE Latin1_General_100_BIN2
      FROM (
        SELECT t.GroupId, N'task' AS Place FROM Taskgate.Task AS t WITH (INDEX (PK_Task)) WHERE t.GroupId IS NOT NULL -- all
        UNION ALL
        SELECT s.GroupId, N'slot' FROM Taskgate.GroupSlot AS s WITH (INDEX (PK_GroupSlot)) -- all
        UNION ALL
        SELECT w.GroupId, N'waiting' FROM Taskgate.GroupWaiting AS w WITH (INDEX (PK_GroupWaiting)) -- all
        UNION ALL
        SELECT a.GroupId, N'archive'
        FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Group)) WHERE a.GroupId IS NOT NULL) AS n -- all that may be redriven
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.TaskGroup AS g WHERE g.GroupId = n.GroupId)
      GROUP BY n.GroupId
      UNION ALL
      SELECT N'a key without a window belongs to an unfinished task', CONVERT(nvarchar(20), k.TaskDefinitionId) + N'/' + k.DedupeKey COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), k.TaskId) COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Dedupe AS k WITH (INDEX (PK_Dedupe)) -- all
      WHERE k.ExpiresAt IS NULL AND NOT EXISTS (SELECT 1 FROM Standings AS p WHERE p.TaskId = k.TaskId)
      UNION ALL
      SELECT N'a schedule belongs to a definition', CONVERT(nvarchar(20), s.ScheduleId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), s.TaskDefinitionId) COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Schedule AS s WITH (INDEX (PK_Schedule)) -- all
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = s.TaskDefinitionId)
      UNION ALL
      SELECT N'a group of a schedule has its schedule', CONVERT(nvarchar(20), g.ScheduleId) COLLATE Latin1_General_100_BIN2,
             g.GroupKey COLLATE Latin1_General_100_BIN2
      FROM Taskgate.ScheduleGroup AS g WITH (INDEX (PK_ScheduleGroup)) -- all
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.Schedule AS s WHERE s.ScheduleId = g.ScheduleId)
      UNION ALL
      SELECT N'a wave belongs to a batch', CONVERT(nvarchar(20), w.WaveId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), w.BatchId) COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Wave AS w WITH (INDEX (PK_Wave)) -- all
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.Batch AS b WHERE b.BatchId = w.BatchId)
      UNION ALL
      SELECT N'a wave counts its unfinished tasks', CONVERT(nvarchar(20), w.WaveId) + N'/' + CONVERT(nvarchar(20), k.N - 1) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), COALESCE(s.Remaining, 0)) + N' counted, ' + CONVERT(nvarchar(20), COALESCE(n.Tasks, 0))
               + N' there' COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Wave AS w WITH (INDEX (PK_Wave)) -- all
      INNER JOIN Taskgate.Number AS k WITH (FORCESEEK) ON k.N <= 16 -- the shards
      LEFT JOIN Taskgate.WaveShard AS s ON s.WaveId = w.WaveId AND s.Shard = CONVERT(smallint, k.N - 1)
      LEFT JOIN (
        SELECT t.WaveId, (t.TaskId / 512) % 16 AS Shard, COUNT(*) AS Tasks
        FROM Taskgate.Task AS t WITH (INDEX (IX_Task_Wave)) -- all unfinished ones of waves: those that are done name none
        WHERE t.WaveId IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM Standings AS p WHERE p.TaskId = t.TaskId AND p.Place = N'wave_blocked')
        GROUP BY t.WaveId, (t.TaskId / 512) % 16) AS n ON n.WaveId = w.WaveId AND n.Shard = k.N - 1
      WHERE COALESCE(s.Remaining, 0) <> COALESCE(n.Tasks, 0)
      UNION ALL
      SELECT N'a wave counts its open shards', CONVERT(nvarchar(20), w.WaveId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), w.OpenShards) + N' counted, ' + CONVERT(nvarchar(20), c.Shards) + N' there' COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Wave AS w WITH (INDEX (PK_Wave)) -- all
      CROSS APPLY (
        SELECT COUNT(*) + CASE w.State WHEN 1 THEN 1 ELSE 0 END AS Shards
        FROM Taskgate.WaveShard AS s WITH (FORCESEEK) -- the wave's few rows
        WHERE s.WaveId = w.WaveId AND s.Shard < 16 AND s.Remaining > 0) AS c
      WHERE w.OpenShards <> c.Shards
      UNION ALL
      SELECT N'a wave is open while it has unfinished tasks', CONVERT(nvarchar(20), w.WaveId) COLLATE Latin1_General_100_BIN2,
             N'state ' + CONVERT(nvarchar(20), w.State) + N', ' + CONVERT(nvarchar(20), w.OpenShards) + N' open shards' COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Wave AS w WITH (INDEX (PK_Wave)) -- all
      WHERE (w.State IN (0, 3) AND w.OpenShards > 0) OR (w.State = 2 AND w.OpenShards = 0)
      UNION ALL
      SELECT N'only waves that are blocked or being opened hold tasks', CONVERT(nvarchar(20), h.WaveId) COLLATE Latin1_General_100_BIN2,
             N'state ' + COALESCE(CONVERT(nvarchar(20), w.State), N'none') COLLATE Latin1_General_100_BIN2
      FROM (SELECT DISTINCT y.WaveId FROM Taskgate.WaveBlocked AS y WITH (INDEX (PK_WaveBlocked))) AS h -- all
      LEFT JOIN Taskgate.Wave AS w ON w.WaveId = h.WaveId
      WHERE w.State IS NULL OR w.State NOT IN (0, 1)
      UNION ALL
      SELECT N'waves open one after the other', CONVERT(nvarchar(20), w.BatchId) COLLATE Latin1_General_100_BIN2,
             CONVERT(nvarchar(20), COUNT(*)) + N' open' COLLATE Latin1_General_100_BIN2
      FROM Taskgate.Wave AS w WITH (INDEX (PK_Wave)) -- all
      WHERE w.State IN (1, 2)
      GROUP BY w.BatchId
      HAVING COUNT(*) > 1) AS r) AS f
  WHERE f.N <= 100;
  SELECT @vFindings = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"rule":"' + STRING_ESCAPE(f.RuleName, 'json')
           + N'","key":"' + STRING_ESCAPE(COALESCE(f.Item, N''), 'json')
           + N'","detail":"' + STRING_ESCAPE(COALESCE(f.Detail, N''), 'json') + N'"}'), N',') WITHIN GROUP (ORDER BY f.FindingId) + N']'
  FROM @vFinding AS f;
  SELECT CASE WHEN @vFindings IS NULL THEN N'sound' ELSE N'broken' END AS [Status], COALESCE(@vFindings, N'[]') AS [Findings];
END;
