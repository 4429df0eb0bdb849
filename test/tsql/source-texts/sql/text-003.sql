-- Source text 003: tasks, their log, and the reader that takes one task after the other.
CREATE TABLE dbo.Tasks (
  TaskID int IDENTITY(1,1) NOT NULL CONSTRAINT PK_Tasks PRIMARY KEY CLUSTERED,
  TaskBody nvarchar(max) NOT NULL,
  Status varchar(20) NOT NULL CONSTRAINT DF_Tasks_Status DEFAULT ('Pending'));
GO
CREATE NONCLUSTERED INDEX IX_Status ON dbo.Tasks (Status);
GO
CREATE TABLE dbo.Logs (
  LogID bigint IDENTITY(1,1) NOT NULL CONSTRAINT PK_Logs PRIMARY KEY CLUSTERED,
  TaskID int NOT NULL,
  TaskBody nvarchar(max) NULL,
  SPID int NOT NULL CONSTRAINT DF_Logs_SPID DEFAULT (@@SPID),
  StartTime datetime2(3) NOT NULL CONSTRAINT DF_Logs_StartTime DEFAULT (SYSUTCDATETIME()),
  EndTime datetime2(3) NULL);
GO
CREATE PROCEDURE dbo.ExecAsync @SQL nvarchar(max)
AS
BEGIN
  INSERT INTO dbo.Tasks (TaskBody) VALUES (@SQL);
END;
GO
-- One round of the reader: the transaction spans the task's work, as in the text.
CREATE PROCEDURE dbo.ReadOne
AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @TaskID int, @TaskBody nvarchar(max), @LogID bigint;
  BEGIN TRANSACTION;
  UPDATE TOP (1) t
  SET @TaskID = TaskID, @TaskBody = TaskBody, Status = 'Running'
  FROM dbo.Tasks AS t WITH (READPAST, INDEX (IX_Status))
  WHERE t.Status = 'Pending';
  IF @@ROWCOUNT = 1
  BEGIN
    INSERT INTO dbo.Logs (TaskID, TaskBody) VALUES (@TaskID, @TaskBody);
    SET @LogID = SCOPE_IDENTITY();
    BEGIN TRY
      EXEC (@TaskBody);
    END TRY
    BEGIN CATCH
      PRINT ERROR_MESSAGE();
    END CATCH;
    UPDATE dbo.Logs SET EndTime = SYSUTCDATETIME() WHERE LogID = @LogID;
    DELETE FROM dbo.Tasks WHERE TaskID = @TaskID;
  END;
  COMMIT TRANSACTION;
  SELECT @TaskID AS TaskID;
END;
GO
