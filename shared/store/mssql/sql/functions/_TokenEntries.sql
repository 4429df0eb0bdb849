-- Taskgate._TokenEntries: a definition's tokens as rows, in whichever form it has them: rows of Token; a list or a string of before, until
-- _MakeTokenRows has moved them; or a string that was written by hand, which wins.
-- In:     @TaskDefinitionId int; @Tokens: ExecutionTokens, which says rows where they are such; @List: TokenList, of before. A shared limit's: its string, and null for the two others
-- Rows:   as _ReadTokens: Ord int; TokenId; IsHeld; Grantee; in a list or a string an entry of another width or form has nulls there
-- Raises: -; a list that was damaged by hand, so that it is no JSON any more, has no rows
-- Locks:  none; the caller holds the definition's row, or reads as of its snapshot. A row that moves meanwhile may be seen twice, or not at all:
--         without that lock nothing is granted or denied by these rows
-- Plan:   the definition's range of PK_Token; one pass over a list, seven over a string
-- Twin:   none: one column has them there
CREATE OR ALTER FUNCTION Taskgate._TokenEntries (@TaskDefinitionId int, @Tokens nvarchar(max), @List varchar(max))
RETURNS TABLE
AS
RETURN
  SELECT r.Ord AS Ord, r.TokenId AS TokenId, CONVERT(bit, CASE r.HeldBy WHEN 0 THEN 0 ELSE 1 END) AS IsHeld,
         CASE r.HeldBy WHEN 0 THEN r.LastHeldBy ELSE r.HeldBy END AS Grantee
  FROM Taskgate.Token AS r WITH (INDEX (PK_Token)) -- the definition's range
  WHERE r.TaskDefinitionId = @TaskDefinitionId AND @Tokens = N'rows'
  UNION ALL
  SELECT b.Ord, b.TokenId, b.IsHeld, b.Grantee
  FROM Taskgate._ReadTokens(CASE WHEN @Tokens <> N'rows' THEN @Tokens END) AS b
  UNION ALL
  SELECT CONVERT(int, j.[key]), TRY_CONVERT(uniqueidentifier, SUBSTRING(e.Sound, 3, 36)),
         CONVERT(bit, CASE SUBSTRING(e.Sound, 42, 1) WHEN N'0' THEN 1 WHEN N'1' THEN 0 END), CONVERT(bigint, SUBSTRING(e.Sound, 46, 18))
  FROM OPENJSON(CASE WHEN DATALENGTH(@Tokens) = 0 AND DATALENGTH(@List) > 0 AND ISJSON(CONVERT(nvarchar(max), @List)) = 1 THEN CONVERT(nvarchar(max), @List) END) AS j
  CROSS APPLY (
    SELECT CASE WHEN DATALENGTH(j.[value]) = 126 AND j.[value] COLLATE Latin1_General_100_BIN2 LIKE N'I:%,S:[01],G:%'
      AND SUBSTRING(j.[value], 43, 3) COLLATE Latin1_General_100_BIN2 = N',G:'
      AND SUBSTRING(j.[value], 46, 18) COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^0-9]%' THEN j.[value] END AS Sound) AS e;
