-- Taskgate._FindDefinition: the id of the definition of a name, or the error that there is none.
-- In:     @Name nvarchar(max)
-- Out:    @oDefinition int
-- Raises: 50404 unknown definition
-- Locks:  none
-- Plan:   unique name
-- Twin:   postgres/sql/functions/_find_definition.sql
CREATE OR ALTER PROCEDURE Taskgate._FindDefinition
  @Name nvarchar(max), @oDefinition int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vName nvarchar(200), @vMessage nvarchar(2048);
  SET @oDefinition = NULL;
  -- A name that is too long or ends in blanks matches no row; a comparison would truncate it.
  IF DATALENGTH(@Name) <= 400 AND DATALENGTH(@Name) = DATALENGTH(RTRIM(@Name)) SET @vName = @Name;
  SELECT @oDefinition = d.TaskDefinitionId FROM Taskgate.TaskDefinition AS d WHERE d.Name = @vName;
  IF @oDefinition IS NULL
  BEGIN
    SET @vMessage = N'name: unknown definition (' + COALESCE(REPLACE(LEFT(@Name, 900), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50404, @vMessage, 1;
  END;
END;
