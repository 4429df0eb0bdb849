-- Taskgate._ApplyKinds: what the code says of the kinds of a call's entries, where the caller said nothing.
-- In:     @TaskDefinitionId int; @Name: the definition, the kind of entries that name none; @Build bigint: of the caller's code, 0: it
--         has none; @Tasks, @Payloads: the entries, sound ones, as EnqueueTasks has them; @WaveId: theirs: then no delay; @Now
-- Out:    @oEntries: JSON array of {o: the entry's index, group, dedupeKey, dedupeMs, priority, runAt}: fields to be added, or null
-- Raises: 50422 a payload has no key at a path, naming entry and member; 50424 the group is a function in the code and the caller
--         said none; or a key is another than the payload's, of a caller without code or with the code that is registered
-- Locks:  none
-- Plan:   primary keys, one probe per entry
-- Twin:   postgres/sql/functions/_apply_kinds.sql
CREATE OR ALTER PROCEDURE Taskgate._ApplyKinds
  @TaskDefinitionId int, @Name nvarchar(200), @Build bigint, @Tasks nvarchar(max), @Payloads nvarchar(max), @WaveId bigint, @Now datetime2(3), @oEntries nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048), @vNumber int, @vIsStrict bit;
  DECLARE @vEntry TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    GroupBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, DedupeBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, IsMissing bit NOT NULL,
    GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, GroupIs nvarchar(max) COLLATE Latin1_General_100_BIN2 NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, DedupeIs nvarchar(max) COLLATE Latin1_General_100_BIN2 NULL, DedupeMs bigint NULL,
    Priority smallint NULL, RunInMs bigint NULL);

  SELECT @vIsStrict = CASE WHEN COALESCE(@Build, 0) IN (0, d.Build) THEN 1 ELSE 0 END
  FROM Taskgate.TaskDefinition AS d
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  INSERT INTO @vEntry (Ord, Kind, GroupBy, DedupeBy, IsMissing, GroupKey, GroupIs, DedupeKey, DedupeIs, DedupeMs, Priority, RunInMs)
  SELECT e.Ord, k.Kind, k.GroupBy, k.DedupeBy,
         CASE WHEN k.IsGroupComputed = 1 AND NOT EXISTS (
                SELECT 1 FROM OPENJSON(e.Entry) AS m WHERE m.[key] COLLATE Latin1_General_100_BIN2 = N'group' AND DATALENGTH(m.[key]) = 10) THEN 1 ELSE 0 END,
         e.GroupKey, g.Answer, e.DedupeKey, d.Answer,
         CASE WHEN e.DedupeMs IS NULL THEN k.DedupeMs END, CASE WHEN e.Priority IS NULL THEN k.Priority END,
         CASE WHEN e.RunInMs IS NULL AND e.RunAt IS NULL AND @WaveId IS NULL THEN k.RunInMs END
  FROM (
    SELECT p.Ord, j.[value] AS Entry, p.Payload, COALESCE(v.Kind, @Name) AS Kind,
           v.GroupKey, v.DedupeKey, v.DedupeMs, v.Priority, v.RunInMs, v.RunAt
    FROM OPENJSON(@Tasks) AS j
    CROSS APPLY OPENJSON(j.[value]) WITH (
      PayloadText nvarchar(max) N'$.payload', PayloadJson nvarchar(max) N'$.payload' AS JSON, Kind nvarchar(200) N'$.kind', GroupKey nvarchar(200) N'$.group',
      DedupeKey nvarchar(200) N'$.dedupeKey', DedupeMs nvarchar(100) N'$.dedupeMs', Priority nvarchar(100) N'$.priority', RunInMs nvarchar(100) N'$.runInMs',
      RunAt nvarchar(100) N'$.runAt') AS v
    CROSS APPLY (
      SELECT CONVERT(int, j.[key]) AS Ord, COALESCE(v.PayloadText, v.PayloadJson) AS Payload
      WHERE @Payloads IS NULL
      UNION ALL
      SELECT CONVERT(int, o.[key]), o.[value]
      FROM OPENJSON(@Payloads) AS o
      WHERE @Payloads IS NOT NULL) AS p) AS e
  INNER JOIN Taskgate.TaskKind AS k ON k.TaskDefinitionId = @TaskDefinitionId AND k.Kind = e.Kind COLLATE Latin1_General_100_BIN2
  CROSS APPLY Taskgate._PayloadKeyOf(e.Payload, k.GroupBy) AS g
  CROSS APPLY Taskgate._PayloadKeyOf(e.Payload, k.DedupeBy) AS d
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per entry
  SELECT TOP (1) @vNumber = CASE WHEN x.Problem LIKE N'!%' THEN 50422 ELSE 50424 END,
         @vMessage = N'tasks[' + CONVERT(nvarchar(11), e.Ord) + N'].' + REPLACE(SUBSTRING(x.Problem, 2, 1800), N'%', N'%%')
  FROM @vEntry AS e
  CROSS APPLY (SELECT CASE
      WHEN e.GroupIs LIKE N'!%' THEN e.GroupIs
      WHEN e.IsMissing = 1 THEN N'-group: expected a key, or null for none: the code of kind ' + e.Kind + N' computes it (nothing)'
      WHEN @vIsStrict = 1 AND e.GroupBy IS NOT NULL AND e.GroupKey <> COALESCE(SUBSTRING(e.GroupIs, 2, 200), N'')
        THEN N'-group: expected nothing, or what the payload of kind ' + e.Kind + N' has at ' + e.GroupBy + N' (' + e.GroupKey + N')'
      WHEN e.DedupeIs LIKE N'!%' THEN e.DedupeIs
      WHEN @vIsStrict = 1 AND e.DedupeBy IS NOT NULL AND e.DedupeKey <> COALESCE(SUBSTRING(e.DedupeIs, 2, 200), N'')
        THEN N'-dedupeKey: expected nothing, or what the payload of kind ' + e.Kind + N' has at ' + e.DedupeBy + N' (' + e.DedupeKey + N')' END
        AS Problem) AS x
  WHERE x.Problem IS NOT NULL
  ORDER BY e.Ord;
  IF @vMessage IS NOT NULL THROW @vNumber, @vMessage, 1;
  SELECT @oEntries = N'[' + STRING_AGG(N'{"o":' + CONVERT(nvarchar(max), e.Ord)
           + COALESCE(N',"group":"' + STRING_ESCAPE(CASE WHEN e.GroupKey IS NULL THEN SUBSTRING(e.GroupIs, 2, 200) END, 'json') + N'"', N'')
           + COALESCE(N',"dedupeKey":"' + STRING_ESCAPE(CASE WHEN e.DedupeKey IS NULL THEN SUBSTRING(e.DedupeIs, 2, 200) END, 'json') + N'"', N'')
           + COALESCE(N',"dedupeMs":' + CONVERT(nvarchar(20), CASE WHEN e.DedupeKey IS NULL AND e.DedupeIs IS NOT NULL THEN e.DedupeMs END), N'')
           + COALESCE(N',"priority":' + CONVERT(nvarchar(11), e.Priority), N'')
           + CASE WHEN e.RunInMs > 0 THEN N',"runAt":"' + LEFT(Taskgate._Iso(DATEADD(MILLISECOND, CONVERT(int, e.RunInMs % 86400000),
                                         DATEADD(DAY, CONVERT(int, e.RunInMs / 86400000), @Now))) COLLATE Latin1_General_100_BIN2, 23) + N'"' ELSE N'' END
           + N'}', N',') + N']'
  FROM @vEntry AS e;
END;
