-- Taskgate._DefinitionNames: names of definitions as a JSON array, for the hints of those who made tasks ready; null: none.
-- In:     @Ids: JSON array of definition ids, may repeat, or null; @Except int: left out
-- Out:    nvarchar(max): JSON array of strings, sorted
-- Raises: -
-- Locks:  none
-- Plan:   primary key
-- Twin:   postgres/sql/functions/_definition_names.sql
CREATE OR ALTER FUNCTION Taskgate._DefinitionNames (@Ids nvarchar(max), @Except int)
RETURNS nvarchar(max)
AS
BEGIN
  RETURN (
    SELECT N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + STRING_ESCAPE(d.Name, 'json') + N'"'), N',')
             WITHIN GROUP (ORDER BY d.Name) + N']'
    FROM (SELECT DISTINCT CONVERT(int, j.[value]) AS Id FROM OPENJSON(@Ids) AS j) AS i
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = i.Id
    WHERE i.Id <> @Except);
END;
