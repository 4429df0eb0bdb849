-- Taskgate._CheckActor: the name that the audit gets; refuses one that is empty, and a name or a reason that is too long. No text is
--         truncated silently.
-- In:     @ChangedBy nvarchar(max): 1..200 characters, not all blanks; null: the login; @Reason nvarchar(max): at most 400, or null
-- Out:    @ChangedBy: as it came in, or sql:LOGIN
-- Raises: 50422 a text too long, or an actor that is empty
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_check_actor.sql
CREATE OR ALTER PROCEDURE Taskgate._CheckActor
  @ChangedBy nvarchar(max) OUTPUT, @Reason nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048);
  SET @vMessage = CASE
    WHEN DATALENGTH(@ChangedBy) > 400 THEN N'changed_by: expected at most 200 characters (' + REPLACE(LEFT(@ChangedBy, 220), N'%', N'%%') + N')'
    WHEN LTRIM(@ChangedBy) = N'' THEN N'changed_by: expected a name, or null for the login (' + @ChangedBy + N')'
    WHEN DATALENGTH(@Reason) > 800 THEN N'reason: expected at most 400 characters (' + REPLACE(LEFT(@Reason, 420), N'%', N'%%') + N')' END;
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  SET @ChangedBy = COALESCE(@ChangedBy, LEFT(N'sql:' + ORIGINAL_LOGIN(), 200));
END;
