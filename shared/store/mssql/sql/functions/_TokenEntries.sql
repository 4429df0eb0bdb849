-- Taskgate._TokenEntries: a definition's tokens as rows, in list order, from the one of its two columns that has them.
-- In:     @Tokens: ExecutionTokens, a string of before, or one that was written by hand: it wins; @List: TokenList
-- Rows:   as _ReadTokens: Ord int from 0; TokenId; IsHeld; Grantee; an entry of another width or form has nulls there
-- Raises: -; an error of OPENJSON where a list that was damaged by hand is no JSON any more
-- Locks:  none; the caller holds the row, or reads as of its snapshot
-- Plan:   no table; one pass over the list, seven over a string of before
-- Twin:   none: one column has it there
CREATE OR ALTER FUNCTION Taskgate._TokenEntries (@Tokens nvarchar(max), @List varchar(max))
RETURNS TABLE
AS
RETURN
  SELECT b.Ord AS Ord, b.TokenId AS TokenId, b.IsHeld AS IsHeld, b.Grantee AS Grantee
  FROM Taskgate._ReadTokens(@Tokens) AS b
  UNION ALL
  SELECT CONVERT(int, j.[key]),
         TRY_CONVERT(uniqueidentifier, CASE WHEN e.IsSound = 1 THEN SUBSTRING(j.[value], 3, 36) END),
         CONVERT(bit, CASE WHEN e.IsSound = 1 THEN CASE SUBSTRING(j.[value], 42, 1) WHEN N'0' THEN 1 ELSE 0 END END),
         CONVERT(bigint, CASE WHEN e.IsSound = 1 THEN SUBSTRING(j.[value], 46, 18) END)
  FROM OPENJSON(CASE WHEN DATALENGTH(@Tokens) = 0 AND DATALENGTH(@List) > 0 THEN CONVERT(nvarchar(max), @List) END) AS j
  CROSS APPLY (
    SELECT CASE WHEN DATALENGTH(j.[value]) = 126 AND j.[value] COLLATE Latin1_General_100_BIN2 LIKE N'I:%,S:[01],G:%'
      AND SUBSTRING(j.[value], 43, 3) COLLATE Latin1_General_100_BIN2 = N',G:'
      AND SUBSTRING(j.[value], 46, 18) COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^0-9]%' THEN 1 ELSE 0 END AS IsSound) AS e;
