/**
 * The fenced completion and the end of its transaction as one batch: SQL Server reads a batch to its end before it runs
 * its first statement, so no client can vanish or freeze between the two. It is a batch of its own, no sp_executesql: what
 * that calls may not end the caller's transaction (error 266:
 * https://learn.microsoft.com/sql/t-sql/language-elements/rollback-transaction-transact-sql). The parameters are the driver's, which writes them in front
 * as variables. Of a claim that was completed before, the effects were committed then: these are undone. An error of the procedure dooms the transaction and ends the batch before the commit.
 * What a plain batch sets stays in the session, so its end takes that back: another task's statements run as on a new
 * connection. A batch that an error ended can't; its connection is reset.
 */
export const completionBatch = `
SET NOCOUNT, XACT_ABORT ON;
DECLARE @vEnd TABLE ([Status] nvarchar(20) NOT NULL, [Woken] nvarchar(max) NULL, [Opening] nvarchar(max) NULL);
INSERT INTO @vEnd ([Status], [Woken], [Opening])
EXEC Taskgate.CompleteTask @TaskExecutionId = @TaskExecutionId, @TaskId = @TaskId, @Fence = @Fence,
  @DurationMs = @DurationMs, @Result = @Result, @StartId = @StartId;
IF EXISTS (SELECT 1 FROM @vEnd AS e WHERE e.[Status] <> N'done')
  ROLLBACK TRANSACTION;
ELSE
  COMMIT TRANSACTION;
SET NOCOUNT, XACT_ABORT OFF;
SELECT e.[Status], e.[Woken], e.[Opening] FROM @vEnd AS e;`;

/** In a literal of T-SQL a backslash takes the end of a line with it; in JSON none stands there. */
export const lineContinuation = /\\\r?\n/;
