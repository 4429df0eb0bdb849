-- 0005_token_list: nothing here: a number stands for the same step in both dialects.
-- Duration: none. Locks: none. Old code beside it: sees no difference. A change of a row writes its string whole on PostgreSQL, whatever
-- part of it changes, and its versions take no lock: entries of one width would save nothing.
-- Twin: mssql/sql/migrations/0005_token_list.sql

do $$ begin end $$;
