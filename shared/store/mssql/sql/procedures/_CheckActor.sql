-- Taskgate._CheckActor: refuses the name or the reason of a change when it is too long. No text is truncated silently.
-- In:     @ChangedBy nvarchar(max): at most 200 characters; @Reason nvarchar(max): at most 400, or null
-- Out:    -
-- Raises: 50422 a text too long
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_check_actor.sql
CREATE OR ALTER PROCEDURE Taskgate._CheckActor
  @ChangedBy nvarchar(max), @Reason nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vMessage nvarchar(2048);
  SET @vMessage = CASE
    WHEN DATALENGTH(@ChangedBy) > 400 THEN N'changed_by: expected at most 200 characters (' + REPLACE(LEFT(@ChangedBy, 220), N'%', N'%%') + N')'
    WHEN DATALENGTH(@Reason) > 800 THEN N'reason: expected at most 400 characters (' + REPLACE(LEFT(@Reason, 420), N'%', N'%%') + N')' END;
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
END;
