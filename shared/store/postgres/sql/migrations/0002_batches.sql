-- 0002_batches: what batches need besides their tables.
-- Duration: milliseconds while there are no batches. Locks: writers of batch and task wait for that long. Old code beside it: runs on.
-- Twin: mssql/sql/migrations/0002_batches.sql
-- Written under the batch's row lock only, so that who holds it needn't read waves that others may hold.
create table taskgate.open_wave (
  batch_id bigint constraint pk_open_wave primary key,
  wave_id bigint not null                           -- is being opened, or open
);
create index ix_batch_unfinished on taskgate.batch (batch_id) where state in (1, 4) and finished_at is null;
create index ix_task_wave on taskgate.task (wave_id, task_id) where wave_id is not null;
