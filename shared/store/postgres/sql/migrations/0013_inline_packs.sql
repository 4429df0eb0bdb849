-- 0013_inline_packs: what one call ends lies in its row whole, up to half a page; above that its long lists lie apart.
-- Duration: milliseconds: no row is read or written. Locks: for that time packs can't be read. Old code beside it: writes packs as before.
-- Twin: mssql/sql/migrations/0013_inline_packs.sql

-- Eight tasks of 300 bytes: 2 entries of a table and 2 of an index less.
alter table taskgate.archive_pack set (toast_tuple_target = 4080);
-- Each insert would read the text of both checks anew, a thirtieth of a call that ends eight tasks. check_invariants has them.
alter table taskgate.archive_pack drop constraint ck_archive_pack_ends, drop constraint ck_archive_pack_span;
