-- Taskgate._TokenText: the token string, from the one of its two columns that has it.
-- In:     @Tokens: ExecutionTokens, a string of before, or one that was written by hand: it wins; @List: TokenList
-- Rows:   one: Tokens nvarchar(max): as _ReadTokens reads it; empty: no tokens
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   none: one column has it there
CREATE OR ALTER FUNCTION Taskgate._TokenText (@Tokens nvarchar(max), @List varchar(max))
RETURNS TABLE
AS
RETURN
  SELECT CASE WHEN DATALENGTH(@Tokens) > 0 THEN @Tokens COLLATE Latin1_General_100_BIN2
              ELSE REPLACE(REPLACE(REPLACE(CONVERT(nvarchar(max), COALESCE(@List, '')) COLLATE Latin1_General_100_BIN2,
                N'["', N''), N'"]', N''), N'","', N',') END AS Tokens;
