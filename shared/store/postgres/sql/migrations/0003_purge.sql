-- 0003_purge: dedupe keys are found by the end of their window.
-- Duration: one read of dedupe. Locks: writers of dedupe wait for that long. Old code beside it: runs on.
-- Twin: mssql/sql/migrations/0003_purge.sql
create index ix_dedupe_expires on taskgate.dedupe (expires_at) where expires_at is not null;
