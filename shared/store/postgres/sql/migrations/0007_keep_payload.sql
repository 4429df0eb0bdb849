-- 0007_keep_payload: whether a definition's done tasks keep their payloads.
-- Duration: milliseconds. Locks: for that time definitions can't be read. Old code beside it: registers without it, which is as
-- before: they are kept.
-- Twin: mssql/sql/migrations/0007_keep_payload.sql

-- false: of done tasks only; the dead need theirs for a redrive.
alter table taskgate.task_definition add column keep_payload boolean not null default true;
