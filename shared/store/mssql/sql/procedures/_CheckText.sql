-- Taskgate._CheckText: refuses a name or a key that is missing, empty, too long, or has blanks at an end.
-- In:     @What: the parameter's name, for the error; @Text nvarchar(max)
-- Out:    -
-- Raises: 50422 not such a text
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_check_text.sql
CREATE OR ALTER PROCEDURE Taskgate._CheckText
  @What nvarchar(100), @Text nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048);
  IF DATALENGTH(@Text) BETWEEN 2 AND 400 AND DATALENGTH(@Text) = DATALENGTH(LTRIM(RTRIM(@Text))) RETURN;
  SET @vMessage = @What + N': expected 1..200 characters without blanks at either end ('
    + COALESCE(REPLACE(LEFT(@Text, 220), N'%', N'%%'), N'<NULL>') + N')';
  THROW 50422, @vMessage, 1;
END;
