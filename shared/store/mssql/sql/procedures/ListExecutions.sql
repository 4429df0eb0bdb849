-- Taskgate.ListExecutions: who works, with how many tokens, since when.
-- In:     @Name: of one definition, or null; @IsOpen: only live or dead and not yet reclaimed; @Max int 1..1000
-- Out:    Status: listed; Executions: JSON array, newest first, of {execution, definition, state: live | ended | dead | reclaimed,
--           worker, startedAt, endedAt, leaseLeftMs (may be negative), tokens, claimed,
--           running: claims that count as started, never more than tokens, prefetched: the others; both 0 once the lease is over}
-- Raises: 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Plan:   IX_TaskExecution_Open, or the primary key backwards; then one seek per execution; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_executions.sql
CREATE OR ALTER PROCEDURE Taskgate.ListExecutions
  @Name nvarchar(max), @IsOpen bit, @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vName nvarchar(200), @vDefinition int,
          @vExecutions nvarchar(max);
  DECLARE @vListed TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  -- A name that is too long or ends in blanks matches no row; a comparison would truncate it.
  IF DATALENGTH(@Name) <= 400 AND DATALENGTH(@Name) = DATALENGTH(RTRIM(@Name)) SET @vName = @Name;
  SELECT @vDefinition = d.TaskDefinitionId FROM Taskgate.TaskDefinition AS d WHERE d.Name = @vName;
  -- First the index entries, then the rows by key: no other call waits between index and row.
  IF @IsOpen = 0
    INSERT INTO @vListed (TaskExecutionId)
    SELECT TOP (@Max) e.TaskExecutionId
    FROM Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution)) -- newest first, without a sort
    WHERE @Name IS NULL OR e.TaskDefinitionId = @vDefinition
    ORDER BY e.TaskExecutionId DESC;
  ELSE
    INSERT INTO @vListed (TaskExecutionId)
    SELECT TOP (@Max) e.TaskExecutionId
    FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
    WHERE e.State IN (1, 3) AND (@Name IS NULL OR e.TaskDefinitionId = @vDefinition)
    ORDER BY e.TaskExecutionId DESC;
  -- COLLATE on the first part: names and workers differ in theirs.
  SELECT @vExecutions = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"execution":"' COLLATE Latin1_General_100_BIN2
           + CONVERT(nvarchar(20), e.TaskExecutionId)
           + N'","definition":"' + STRING_ESCAPE(d.Name, 'json')
           + N'","state":"' + CASE e.State WHEN 1 THEN N'live' WHEN 2 THEN N'ended' WHEN 3 THEN N'dead' ELSE N'reclaimed' END
           + N'","worker":"' + STRING_ESCAPE(e.Worker, 'json')
           + N'","startedAt":"' + Taskgate._Iso(e.StartedAt)
           + N'","endedAt":' + COALESCE(N'"' + Taskgate._Iso(e.EndedAt) + N'"', N'null')
           + N',"leaseLeftMs":'
           + CASE WHEN e.State = 1 THEN CONVERT(nvarchar(20), DATEDIFF_BIG(MILLISECOND, @vNow, e.LeaseUntil)) ELSE N'null' END
           + N',"tokens":' + CONVERT(nvarchar(11), e.TokenCount)
           + N',"claimed":' + CONVERT(nvarchar(11), c.Claimed)
           + N',"running":' + CONVERT(nvarchar(11), r.Running)
           + N',"prefetched":' + CONVERT(nvarchar(11), CASE WHEN r.IsLive = 1 THEN c.Claimed - r.Running ELSE 0 END) + N'}'), N',') WITHIN GROUP (ORDER BY e.TaskExecutionId DESC) + N']'
  FROM @vListed AS x
  INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = x.TaskExecutionId
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = e.TaskDefinitionId
  CROSS APPLY (
    SELECT COUNT(*) AS Claimed, COALESCE(SUM(CASE y.IsPrefetched WHEN 0 THEN 1 ELSE 0 END), 0) AS Started
    FROM Taskgate.Claim AS y WITH (INDEX (PK_Claim)) -- the execution's range
    WHERE y.TaskExecutionId = x.TaskExecutionId) AS c
  CROSS APPLY (
    SELECT CASE WHEN e.State = 1 AND e.LeaseUntil >= @vNow THEN 1 ELSE 0 END AS IsLive,
           CASE WHEN e.State <> 1 OR e.LeaseUntil < @vNow THEN 0 WHEN c.Started < e.TokenCount THEN c.Started ELSE e.TokenCount END AS Running) AS r
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
  SELECT N'listed' AS [Status], COALESCE(@vExecutions, N'[]') AS [Executions];
END;
