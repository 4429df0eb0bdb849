-- 0006_utf8_texts: nothing here: texts are in the database's encoding, UTF-8, from the beginning.
-- Duration: none. Locks: none. Old code beside it: sees no difference.
-- Twin: mssql/sql/migrations/0006_utf8_texts.sql

do $$ begin end $$;
