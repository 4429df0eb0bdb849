-- 0005_token_list: nothing here: a number stands for the same step in both dialects.
-- Duration: none. Locks: none. Old code beside it: sees no difference. On PostgreSQL a change writes the whole row, so
-- entries of one width would save nothing.
-- Twin: mssql/sql/migrations/0005_token_list.sql

do $$ begin end $$;
