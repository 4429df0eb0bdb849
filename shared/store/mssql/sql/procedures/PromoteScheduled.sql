-- Taskgate.PromoteScheduled: makes due tasks of a definition claimable: ready, or waiting for their group.
-- In:     @Name; @Max int 1..10000
-- Out:    Status: promoted | none; Promoted: how many; NextDueMs bigint: until the next one, 0 when more are due;
--         Ready: tasks may be claimed
-- Raises: 50404 unknown definition; 50422 max out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  as _Promote, all by skip; of a task whose group it finds or makes the row of Task, behind a cancel that asks for its end:
--         that is the last thing which that one does. Else it never waits
-- Isolation: two callers take different rows; what one leaves because its group is locked stays due, and its NextDueMs says so
-- Plan:   first entries of PK_Scheduled under the definition; the last one of PK_Ready: at the first ones claims leave deleted entries
-- Once:   naturally: a promoted task isn't scheduled any more
-- Twin:   postgres/sql/functions/promote_scheduled.sql
CREATE OR ALTER PROCEDURE Taskgate.PromoteScheduled
  @Name nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vDefinition int, @vPromoted int;

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 10000;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;

  BEGIN TRY
    BEGIN TRANSACTION;
    EXEC Taskgate._Promote @TaskDefinitionId = @vDefinition, @Max = @Max, @Now = @vNow, @oPromoted = @vPromoted OUTPUT;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT CASE WHEN @vPromoted > 0 THEN N'promoted' ELSE N'none' END AS [Status], @vPromoted AS [Promoted],
         Taskgate._NextDueMs(@vDefinition) AS [NextDueMs], Taskgate._HasReady(@vDefinition) AS [Ready];
END;
