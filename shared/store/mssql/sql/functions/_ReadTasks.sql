-- Taskgate._ReadTasks: the entries of an enqueue, each with the first problem found in it.
-- In:     @Tasks, @Payloads: JSON arrays, as EnqueueTasks has them; @WaveId: theirs: then no instant; @Now
-- Out:    Ord: the entry's index; Payload, Kind, Priority, GroupKey, IsGlobal, RunAt: null: at once, DedupeKey, DedupeMs, TraceParent,
--         IsReplacing; Unreadable: a field that can't be read, or N'': it is no object; Problem: one that has no allowed value; or null
-- Raises: 13609 @Tasks or @Payloads isn't JSON
-- Locks:  none
-- Plan:   no table. A text is read once, each entry once more, a payload of @Payloads not again
-- Twin:   none: it stands in postgres/sql/functions/enqueue_tasks.sql, _find_bad_entry.sql
CREATE OR ALTER FUNCTION Taskgate._ReadTasks (@Tasks nvarchar(max), @Payloads nvarchar(max), @WaveId bigint, @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT p.Ord, x.Payload, LEFT(v.Kind COLLATE Latin1_General_100_BIN2, 200) AS Kind,
         CASE WHEN x.Priority BETWEEN -32768 AND 32767 THEN x.Priority ELSE 100 END AS Priority, LEFT(v.GroupKey COLLATE Latin1_General_100_BIN2, 200) AS GroupKey,
         CASE WHEN v.GroupScope COLLATE Latin1_General_100_BIN2 = N'global' THEN 1 ELSE 0 END AS IsGlobal,
         CASE WHEN x.RunAt > @Now THEN x.RunAt END AS RunAt, LEFT(v.DedupeKey COLLATE Latin1_General_100_BIN2, 200) AS DedupeKey, x.DedupeMs, LEFT(v.Trace, 55) AS TraceParent,
         CASE WHEN v.OnDuplicate COLLATE Latin1_General_100_BIN2 = N'replace' THEN 1 ELSE 0 END AS IsReplacing,
         CASE
           WHEN j.[type] <> 5 THEN N''
           WHEN x.IsWhole = 0 AND x.Bytes <= 65536 AND ISJSON(N'[' + x.Payload + N']') <> 1
             THEN N'payload: expected the text of a JSON object or array (' + LEFT(x.Payload, 100) + N')'
           WHEN COALESCE(v.Priority, v.PriorityJson) IS NOT NULL AND x.Priority IS NULL
             THEN N'priority: expected a whole number (' + LEFT(COALESCE(v.Priority, v.PriorityJson), 100) + N')'
           WHEN COALESCE(v.RunInMs, v.RunInMsJson) IS NOT NULL AND x.RunInMs IS NULL
             THEN N'runInMs: expected a whole number (' + LEFT(COALESCE(v.RunInMs, v.RunInMsJson), 100) + N')'
           WHEN COALESCE(v.DedupeMs, v.DedupeMsJson) IS NOT NULL AND x.DedupeMs IS NULL
             THEN N'dedupeMs: expected a whole number (' + LEFT(COALESCE(v.DedupeMs, v.DedupeMsJson), 100) + N')'
           WHEN COALESCE(v.RunAt, v.RunAtJson) IS NOT NULL AND x.At IS NULL
             THEN N'runAt: expected an ISO-8601 instant with its zone (' + LEFT(COALESCE(v.RunAt, v.RunAtJson), 100) + N')'
           -- An object would be read as nothing.
           WHEN v.KindJson IS NOT NULL THEN N'kind: expected 1..200 characters without blanks at either end (' + LEFT(v.KindJson, 100) + N')'
           WHEN v.GroupJson IS NOT NULL THEN N'group: expected 1..200 characters without blanks at either end (' + LEFT(v.GroupJson, 100) + N')'
           WHEN v.ScopeJson IS NOT NULL THEN N'groupScope: expected definition or global (' + LEFT(v.ScopeJson, 100) + N')'
           WHEN v.DedupeKeyJson IS NOT NULL
             THEN N'dedupeKey: expected 1..200 characters without blanks at either end (' + LEFT(v.DedupeKeyJson, 100) + N')'
           WHEN v.DuplicateJson IS NOT NULL THEN N'onDuplicate: expected keep or replace (' + LEFT(v.DuplicateJson, 100) + N')'
           WHEN v.TraceJson IS NOT NULL THEN N'trace: expected a W3C traceparent (' + LEFT(v.TraceJson, 100) + N')' END AS Unreadable,
         CASE
           WHEN @Payloads IS NOT NULL AND COALESCE(v.PayloadText, v.PayloadJson) IS NOT NULL THEN N'payload: expected none beside payloads'
           WHEN x.Bytes > 65536 THEN N'payload: expected at most 65536 bytes (' + CONVERT(nvarchar(20), x.Bytes) + N')'
           WHEN x.IsWhole = 0
             THEN N'payload: expected the text of a JSON object or array (' + LEFT(x.Payload, 100) + N')'
           WHEN CONVERT(nvarchar(max), x.Utf8) <> x.Payload COLLATE Latin1_General_100_BIN2_UTF8
             THEN N'payload: expected whole characters, found half of a surrogate pair (' + LEFT(x.Payload, 100) + N')'
           WHEN DATALENGTH(v.Kind) NOT BETWEEN 2 AND 400 OR DATALENGTH(v.Kind) <> DATALENGTH(LTRIM(RTRIM(v.Kind)))
             THEN N'kind: expected 1..200 characters without blanks at either end (' + LEFT(v.Kind, 220) + N')'
           WHEN x.Priority NOT BETWEEN -32768 AND 32767
             THEN N'priority: expected -32768..32767 (' + CONVERT(nvarchar(11), x.Priority) + N')'
           WHEN DATALENGTH(v.GroupKey) NOT BETWEEN 2 AND 400 OR DATALENGTH(v.GroupKey) <> DATALENGTH(LTRIM(RTRIM(v.GroupKey)))
             THEN N'group: expected 1..200 characters without blanks at either end (' + LEFT(v.GroupKey, 220) + N')'
           WHEN v.GroupScope COLLATE Latin1_General_100_BIN2 NOT IN (N'definition', N'global')
             THEN N'groupScope: expected definition or global (' + LEFT(v.GroupScope, 220) + N')'
           WHEN x.RunInMs NOT BETWEEN 0 AND 3153600000000
             THEN N'runInMs: expected 0..3153600000000 (' + CONVERT(nvarchar(20), x.RunInMs) + N')'
           WHEN v.RunInMs IS NOT NULL AND v.RunAt IS NOT NULL THEN N'runAt: expected either runAt or runInMs, not both'
           WHEN DATALENGTH(v.DedupeKey) NOT BETWEEN 2 AND 400 OR DATALENGTH(v.DedupeKey) <> DATALENGTH(LTRIM(RTRIM(v.DedupeKey)))
             THEN N'dedupeKey: expected 1..200 characters without blanks at either end (' + LEFT(v.DedupeKey, 220) + N')'
           WHEN x.DedupeMs NOT BETWEEN 1 AND 3153600000000
             THEN N'dedupeMs: expected 1..3153600000000 (' + CONVERT(nvarchar(20), x.DedupeMs) + N')'
           WHEN v.OnDuplicate COLLATE Latin1_General_100_BIN2 NOT IN (N'keep', N'replace') OR DATALENGTH(v.OnDuplicate) NOT IN (8, 14)
             THEN N'onDuplicate: expected keep or replace (' + LEFT(v.OnDuplicate, 220) + N')'
           WHEN @WaveId IS NOT NULL AND (v.RunInMs IS NOT NULL OR v.RunAt IS NOT NULL) THEN N'runAt: expected none for a task of a wave'
           WHEN v.Trace NOT LIKE N'__-________________________________-________________-__'
             OR v.Trace COLLATE Latin1_General_100_BIN2 LIKE N'%[^0-9a-f-]%' OR DATALENGTH(REPLACE(v.Trace, N'-', N'')) <> 104
             THEN N'trace: expected a W3C traceparent (' + LEFT(v.Trace, 100) + N')'
         END AS Problem
  FROM OPENJSON(@Tasks) AS j
  OUTER APPLY OPENJSON(CASE j.[type] WHEN 5 THEN j.[value] END) WITH (
    PayloadText nvarchar(max) N'$.payload', PayloadJson nvarchar(max) N'$.payload' AS JSON, Kind nvarchar(max) N'$.kind',
    Priority nvarchar(max) N'$.priority', GroupKey nvarchar(max) N'$.group', GroupScope nvarchar(max) N'$.groupScope',
    RunInMs nvarchar(max) N'$.runInMs', RunAt nvarchar(max) N'$.runAt', DedupeKey nvarchar(max) N'$.dedupeKey',
    DedupeMs nvarchar(max) N'$.dedupeMs', Trace nvarchar(max) N'$.trace', OnDuplicate nvarchar(max) N'$.onDuplicate',
    KindJson nvarchar(max) N'$.kind' AS JSON, PriorityJson nvarchar(max) N'$.priority' AS JSON, GroupJson nvarchar(max) N'$.group' AS JSON,
    ScopeJson nvarchar(max) N'$.groupScope' AS JSON, RunInMsJson nvarchar(max) N'$.runInMs' AS JSON, RunAtJson nvarchar(max) N'$.runAt' AS JSON,
    DedupeKeyJson nvarchar(max) N'$.dedupeKey' AS JSON, DedupeMsJson nvarchar(max) N'$.dedupeMs' AS JSON, TraceJson nvarchar(max) N'$.trace' AS JSON,
    DuplicateJson nvarchar(max) N'$.onDuplicate' AS JSON) AS v
  CROSS APPLY (
    SELECT CONVERT(int, j.[key]) AS Ord, COALESCE(v.PayloadText, v.PayloadJson) AS Payload, ISJSON(COALESCE(v.PayloadText, v.PayloadJson)) AS IsWhole
    WHERE @Payloads IS NULL
    UNION ALL
    SELECT CONVERT(int, o.[key]), COALESCE(o.[value], N'null'), CASE WHEN o.[type] IN (4, 5) THEN 1 ELSE 0 END
    FROM OPENJSON(@Payloads) AS o
    WHERE @Payloads IS NOT NULL) AS p
  CROSS APPLY (
    SELECT p.Payload, n.Utf8, DATALENGTH(n.Utf8) AS Bytes, p.IsWhole, n.Priority, n.RunInMs, n.DedupeMs, n.At,
           CASE
             WHEN v.RunAt IS NOT NULL THEN n.At
             WHEN n.RunInMs BETWEEN 0 AND 3153600000000
               THEN DATEADD(MILLISECOND, CONVERT(int, n.RunInMs % 86400000),
                            DATEADD(DAY, CONVERT(int, n.RunInMs / 86400000), @Now)) END AS RunAt
    FROM (
      -- An empty text would convert to 0; what can't be converted is null, and found out above.
      SELECT TRY_CONVERT(int, NULLIF(v.Priority, N'')) AS Priority, TRY_CONVERT(bigint, NULLIF(v.RunInMs, N'')) AS RunInMs,
             TRY_CONVERT(bigint, NULLIF(v.DedupeMs, N'')) AS DedupeMs, i.At,
             -- Half of a surrogate pair has no UTF-8: another character takes its place.
             CONVERT(varchar(max), p.Payload COLLATE Latin1_General_100_BIN2_UTF8) AS Utf8
      FROM Taskgate._InstantOf(v.RunAt) AS i) AS n) AS x;
