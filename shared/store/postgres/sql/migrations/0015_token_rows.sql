-- 0015_token_rows: nothing here: a number stands for the same step in both dialects.
-- Duration: none. Locks: none. Old code beside it: sees no difference. On PostgreSQL a change writes a definition's row whole, which
-- its count and fence need anyway; its tokens stay a string there.
-- Twin: mssql/sql/migrations/0015_token_rows.sql

do $$ begin end $$;
