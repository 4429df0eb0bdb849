-- Source text 001: jobs in order, some of which may not run at the same time as others of their group.
CREATE TABLE dbo.BackgroundJobWork (
  WorkItemId bigint NOT NULL,
  Status tinyint NOT NULL,
  ConcurrencyGroupName nvarchar(2) NULL,
  CONSTRAINT PK_BackgroundJobWork PRIMARY KEY CLUSTERED (WorkItemId));
GO
CREATE NONCLUSTERED INDEX IX_Status ON dbo.BackgroundJobWork (Status);
GO
CREATE UNIQUE NONCLUSTERED INDEX IX_ConcurrencyRestriction ON dbo.BackgroundJobWork (ConcurrencyGroupName)
  WHERE Status = 3 AND ConcurrencyGroupName IS NOT NULL;
GO
INSERT INTO dbo.BackgroundJobWork (WorkItemId, Status) VALUES
  (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0);
GO
-- The query of the text: reserve in order, mark as running all at once, else one by one. It stands in the agent's own
-- transaction. A table variable stands for its temporary table, a loop over ids for its cursor.
CREATE PROCEDURE dbo.TakeJobs @Count int
AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @WorkItemId bigint;
  DECLARE @Running TABLE (WorkItemId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @Candidates TABLE (WorkItemId bigint NOT NULL PRIMARY KEY CLUSTERED);
  INSERT INTO @Candidates (WorkItemId)
  SELECT TOP (@Count) w.WorkItemId
  FROM dbo.BackgroundJobWork AS w WITH (UPDLOCK, READPAST, INDEX (IX_Status))
  WHERE w.Status = 0
  ORDER BY w.WorkItemId;
  BEGIN TRY
    UPDATE w SET Status = 3
    OUTPUT inserted.WorkItemId INTO @Running (WorkItemId)
    FROM @Candidates AS c
    INNER JOIN dbo.BackgroundJobWork AS w ON w.WorkItemId = c.WorkItemId;
  END TRY
  BEGIN CATCH
    SELECT @WorkItemId = MIN(c.WorkItemId) FROM @Candidates AS c;
    WHILE @WorkItemId IS NOT NULL
    BEGIN
      BEGIN TRY
        UPDATE w SET Status = 3
        OUTPUT inserted.WorkItemId INTO @Running (WorkItemId)
        FROM dbo.BackgroundJobWork AS w
        WHERE w.WorkItemId = @WorkItemId;
      END TRY
      BEGIN CATCH
        SET @WorkItemId = @WorkItemId; -- restricted: passed over in silence
      END CATCH;
      SELECT @WorkItemId = MIN(c.WorkItemId) FROM @Candidates AS c WHERE c.WorkItemId > @WorkItemId;
    END;
  END CATCH;
  SELECT r.WorkItemId FROM @Running AS r ORDER BY r.WorkItemId;
END;
GO
-- The statement that the text would have liked to use.
CREATE PROCEDURE dbo.TakeJobsInOneStatement @Count int
AS
BEGIN
  SET NOCOUNT ON;
  UPDATE TOP (@Count) w SET Status = 3
  OUTPUT inserted.WorkItemId
  FROM dbo.BackgroundJobWork AS w WITH (UPDLOCK, READPAST, INDEX (IX_Status))
  WHERE w.Status = 0;
END;
GO
