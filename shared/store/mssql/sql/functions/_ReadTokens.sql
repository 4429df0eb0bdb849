-- Taskgate._ReadTokens: a token string as rows, in list order.
-- In:     @Tokens: I:<uuid>,S:<0 held, 1 free>,G:<execution id, 0 none> repeated; also reads | between the triples
--         and the three parts in any order
-- Rows:   Ord int from 0; TokenId uniqueidentifier; IsHeld bit; Grantee bigint; 0..1000 rows
-- Raises: -; a damaged triple has a null in one of its columns: the caller raises 50499 and grants nothing
-- Locks:  none; the caller holds the row, or reads as of its snapshot
-- Plan:   no table
-- Twin:   postgres/sql/functions/_read_tokens.sql
CREATE OR ALTER FUNCTION Taskgate._ReadTokens (@Tokens nvarchar(max))
RETURNS TABLE
AS
RETURN
  SELECT p.Ord AS Ord,
         -- Three parts at most: where one is missing or stands twice, another kind is missing.
         TRY_CONVERT(uniqueidentifier,
           MAX(CASE WHEN p.Part LIKE N'I:%' AND DATALENGTH(p.Part) = 76 THEN SUBSTRING(p.Part, 3, 36) END)) AS TokenId,
         CONVERT(bit,
           MAX(CASE WHEN DATALENGTH(p.Part) <> 6 THEN NULL WHEN p.Part = N'S:0' THEN 1 WHEN p.Part = N'S:1' THEN 0 END)) AS IsHeld,
         -- 1..18 digits: a 1 in front turns signs and blanks into what can't be converted.
         TRY_CONVERT(bigint, MAX(CASE WHEN p.Part LIKE N'G:%' AND DATALENGTH(p.Part) BETWEEN 6 AND 40
           AND DATALENGTH(p.Part) = DATALENGTH(RTRIM(p.Part)) AND TRY_CONVERT(bigint, N'1' + SUBSTRING(p.Part, 3, 18)) IS NOT NULL
           THEN SUBSTRING(p.Part, 3, 18) END)) AS Grantee
  FROM (
    SELECT CONVERT(int, j.[key]) / 3 AS Ord, j.[value] COLLATE Latin1_General_100_BIN2 AS Part
    FROM OPENJSON(N'["' + REPLACE(REPLACE(STRING_ESCAPE(@Tokens COLLATE Latin1_General_100_BIN2, 'json'), N'|', N','), N',', N'","') + N'"]') AS j
    WHERE DATALENGTH(@Tokens) > 0) AS p
  GROUP BY p.Ord;
