-- Source text 000: the tokens of a job stand in one row, which a change of them locks first by a write.
CREATE TABLE dbo.TaskDefinition (
  TaskDefinitionId int NOT NULL,
  TaskName nvarchar(50) NOT NULL,
  HoldLockTaskExecutionId int NULL,
  ExecutionTokens nvarchar(max) NOT NULL,
  CONSTRAINT PK_TaskDefinition PRIMARY KEY CLUSTERED (TaskDefinitionId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_TaskDefinition_Name ON dbo.TaskDefinition (TaskName) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
INSERT INTO dbo.TaskDefinition (TaskDefinitionId, TaskName, ExecutionTokens) VALUES
  (1, N'import', N'I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:1,G:0,I:747ebc4e-add4-4d95-9022-0d7a544af813,S:1,G:0'),
  (2, N'resize', N'I:0b8c0e7c-6f0d-4f5b-9d2e-0f4f1f7a2c11,S:1,G:0');
GO
-- Steps 1 to 7 of the text: open a serializable transaction, write, read, write, commit.
CREATE PROCEDURE dbo.AcquireToken @TaskDefinitionId int, @TaskExecutionId int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
  DECLARE @Tokens nvarchar(max), @Place int, @Granted bit = 0;
  BEGIN TRANSACTION;
  UPDATE dbo.TaskDefinition SET HoldLockTaskExecutionId = @TaskExecutionId WHERE TaskDefinitionId = @TaskDefinitionId; -- lock
  SELECT @Tokens = d.ExecutionTokens FROM dbo.TaskDefinition AS d WHERE d.TaskDefinitionId = @TaskDefinitionId; -- read
  SET @Place = CHARINDEX(N'S:1,G:0', @Tokens);
  IF @Place > 0
  BEGIN
    SET @Tokens = SUBSTRING(@Tokens, 1, @Place - 1) + N'S:0,G:' + CONVERT(nvarchar(11), @TaskExecutionId)
      + SUBSTRING(@Tokens, @Place + 7, 4000);
    UPDATE dbo.TaskDefinition SET ExecutionTokens = @Tokens WHERE TaskDefinitionId = @TaskDefinitionId; -- write
    SET @Granted = 1;
  END;
  COMMIT TRANSACTION;
  SELECT @Granted AS Granted;
END;
GO
CREATE PROCEDURE dbo.ReturnToken @TaskDefinitionId int, @TaskExecutionId int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
  DECLARE @Tokens nvarchar(max);
  BEGIN TRANSACTION;
  UPDATE dbo.TaskDefinition SET HoldLockTaskExecutionId = @TaskExecutionId WHERE TaskDefinitionId = @TaskDefinitionId; -- lock
  SELECT @Tokens = d.ExecutionTokens FROM dbo.TaskDefinition AS d WHERE d.TaskDefinitionId = @TaskDefinitionId; -- read
  SET @Tokens = REPLACE(@Tokens, N'S:0,G:' + CONVERT(nvarchar(11), @TaskExecutionId), N'S:1,G:0');
  UPDATE dbo.TaskDefinition SET ExecutionTokens = @Tokens WHERE TaskDefinitionId = @TaskDefinitionId; -- write
  COMMIT TRANSACTION;
END;
GO
