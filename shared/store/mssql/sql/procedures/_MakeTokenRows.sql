-- Taskgate._MakeTokenRows: moves a definition's tokens of before, or a string that was written by hand, into rows of Token.
-- In:     @TaskDefinitionId int: its row is the caller's, and it has a limit
-- Out:    @oHeld int: tokens held
-- Raises: 50499 damaged token string: nothing is moved
-- Locks:  TaskDefinition, ours already; then Token. Joins the caller's transaction
-- Isolation: under the definition's lock, so of two callers one moves and the other finds rows. The word rows in ExecutionTokens is what a
--         procedure of before that waits for this lock finds: it can't read it, and grants nothing
-- Plan:   primary keys; once for each definition, as a rule; joins are loops in the written order
-- Once:   what has been moved is in rows, and the caller asks for no second move
-- Twin:   none: one column has them there
CREATE OR ALTER PROCEDURE Taskgate._MakeTokenRows
  @TaskDefinitionId int, @oHeld int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vName nvarchar(200), @vTokens nvarchar(max), @vList varchar(max), @vCount int, @vIsDamaged bit, @vMessage nvarchar(2048);
  DECLARE @vToken TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TokenId uniqueidentifier NULL, IsHeld bit NULL, Grantee bigint NULL);

  SELECT @vName = d.Name, @vTokens = d.ExecutionTokens, @vList = d.TokenList
  FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now; the key is ours already
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  IF DATALENGTH(@vTokens) > 0 SET @vList = NULL; -- a string wins
  IF DATALENGTH(@vList) > 0 AND ISJSON(CONVERT(nvarchar(max), @vList)) = 0
    SET @vIsDamaged = 1;
  ELSE
  BEGIN
    INSERT INTO @vToken (Ord, TokenId, IsHeld, Grantee)
    SELECT t.Ord, t.TokenId, t.IsHeld, t.Grantee FROM Taskgate._TokenEntries(@TaskDefinitionId, @vTokens, @vList) AS t;
    SELECT @vIsDamaged = MAX(CASE WHEN t.TokenId IS NULL OR t.IsHeld IS NULL OR t.Grantee IS NULL THEN 1 ELSE 0 END), @vCount = COUNT(*),
           @oHeld = COALESCE(SUM(CASE WHEN t.IsHeld = 1 AND t.Grantee <> 0 THEN 1 ELSE 0 END), 0) -- held by nobody: free
    FROM @vToken AS t;
    IF DATALENGTH(@vList) > 0 AND DATALENGTH(@vList) <> 66 * @vCount + 1 SET @vIsDamaged = 1; -- blanks in it
  END;
  IF @vIsDamaged = 1
  BEGIN
    SET @vMessage = N'execution_tokens: not a list of I:,S:,G: triples ('
      + REPLACE(LEFT(COALESCE(CONVERT(nvarchar(max), @vList), @vTokens), 200), N'%', N'%%')
      + N') in definition ' + REPLACE(@vName, N'%', N'%%');
    THROW 50499, @vMessage, 1;
  END;
  DELETE t
  FROM Taskgate.Token AS t WITH (ROWLOCK, UPDLOCK, INDEX (PK_Token)) -- the definition's range: rows that a string by hand takes the place of
  WHERE t.TaskDefinitionId = @TaskDefinitionId;
  INSERT INTO Taskgate.Token WITH (ROWLOCK) (TaskDefinitionId, HeldBy, Ord, TokenId, LastHeldBy)
  SELECT @TaskDefinitionId, CASE t.IsHeld WHEN 1 THEN t.Grantee ELSE 0 END, t.Ord, t.TokenId, t.Grantee FROM @vToken AS t;
  UPDATE d
  SET ExecutionTokens = N'rows', TokenList = NULL, HeldCount = @oHeld
  FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
END;
