-- Taskgate._AuditProblem: the error in the name or the reason of a change, or null. No text is truncated silently.
-- In:     @ChangedBy nvarchar(max): at most 200 characters; @Reason nvarchar(max): at most 400, or null
-- Out:    nvarchar(1000): `field: expected .. (value)`, for THROW
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_audit_problem.sql
CREATE OR ALTER FUNCTION Taskgate._AuditProblem (@ChangedBy nvarchar(max), @Reason nvarchar(max))
RETURNS nvarchar(1000)
AS
BEGIN
  RETURN CASE
    WHEN DATALENGTH(@ChangedBy) > 400 THEN N'changed_by: expected at most 200 characters (' + REPLACE(LEFT(@ChangedBy, 220), N'%', N'%%') + N')'
    WHEN DATALENGTH(@Reason) > 800 THEN N'reason: expected at most 400 characters (' + REPLACE(LEFT(@Reason, 420), N'%', N'%%') + N')' END;
END;
