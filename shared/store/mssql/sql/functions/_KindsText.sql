-- Taskgate._KindsText: the rules of a definition's kinds, for the audit.
-- In:     @TaskDefinitionId int
-- Out:    nvarchar(400), or null: no kind has any
-- Raises: -
-- Locks:  none
-- Plan:   primary key
-- Twin:   postgres/sql/functions/_kinds_text.sql
CREATE OR ALTER FUNCTION Taskgate._KindsText (@TaskDefinitionId int)
RETURNS nvarchar(400)
AS
BEGIN
  DECLARE @vText nvarchar(max);
  SELECT @vText = STRING_AGG(CONVERT(nvarchar(max), k.Kind
           + CASE WHEN k.IsGroupComputed = 1 THEN N' group=code' ELSE COALESCE(N' group=' + k.GroupBy, N'') END
           + COALESCE(N' priority=' + CONVERT(nvarchar(11), k.Priority), N'') + COALESCE(N' run_in_ms=' + CONVERT(nvarchar(20), k.RunInMs), N'')
           + COALESCE(N' dedupe=' + k.DedupeBy + COALESCE(N'/' + CONVERT(nvarchar(20), k.DedupeMs), N''), N'')), N', ') WITHIN GROUP (ORDER BY k.Kind)
  FROM Taskgate.TaskKind AS k WITH (FORCESEEK) -- its few rows
  WHERE k.TaskDefinitionId = @TaskDefinitionId;
  RETURN LEFT(@vText, 400);
END;
