-- Taskgate.ListWatermarks: watermarks of blocks with their versions, by definition as registered, then name.
-- In:     @Name: the definition, or null for all; @Watermark: only this one, or null; @Max int 1..1000
-- Out:    Status: listed; Watermarks: JSON array of {definition, name, value: JSON text or null: none, version: text, changedAt}
-- Raises: 50404 unknown definition; 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: each watermark is as of one moment
-- Plan:   PK_BlockWatermark in its order; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_watermarks.sql
CREATE OR ALTER PROCEDURE Taskgate.ListWatermarks
  @Name nvarchar(max), @Watermark nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vDefinition int, @vWatermarks nvarchar(max);
  DECLARE @vListed TABLE (
    TaskDefinitionId int NOT NULL, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, WatermarkValue nvarchar(max) NOT NULL,
    Version bigint NOT NULL, ChangedAt datetime2(3) NOT NULL, PRIMARY KEY CLUSTERED (TaskDefinitionId, Name));

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  IF @Name IS NOT NULL EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  INSERT INTO @vListed (TaskDefinitionId, Name, WatermarkValue, Version, ChangedAt)
  SELECT TOP (@Max) w.TaskDefinitionId, w.Name, w.WatermarkValue, w.Version, w.ChangedAt
  FROM Taskgate.BlockWatermark AS w WITH (INDEX (PK_BlockWatermark)) -- in its order
  WHERE (@Name IS NULL OR w.TaskDefinitionId = @vDefinition)
    AND (@Watermark IS NULL
      OR (w.Name = @Watermark COLLATE Latin1_General_100_BIN2 AND DATALENGTH(w.Name) = DATALENGTH(@Watermark)))
  ORDER BY w.TaskDefinitionId, w.Name;
  SELECT @vWatermarks = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"definition":"') COLLATE Latin1_General_100_BIN2
           + STRING_ESCAPE(d.Name, 'json')
           + N'","name":"' + STRING_ESCAPE(x.Name, 'json')
           + N'","value":' + CASE x.WatermarkValue WHEN N'null' THEN N'null'
                               ELSE N'"' + STRING_ESCAPE(x.WatermarkValue, 'json') + N'"' END
           + N',"version":"' + CONVERT(nvarchar(20), x.Version)
           + N'","changedAt":"' + Taskgate._Iso(x.ChangedAt) + N'"}', N',') WITHIN GROUP (ORDER BY x.TaskDefinitionId, x.Name) + N']'
  FROM @vListed AS x
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per watermark
  SELECT N'listed' AS [Status], COALESCE(@vWatermarks, N'[]') AS [Watermarks];
END;
