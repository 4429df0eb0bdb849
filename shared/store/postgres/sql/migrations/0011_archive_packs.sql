-- 0011_archive_packs: done tasks that one call ends lie in one row together: three index entries for all of them, where each took three,
-- and they are deleted as one. The archive keeps a row each for those that ended otherwise, were the only one of their call, failed before, or are large.
-- Duration: milliseconds. Locks: none that anybody else can hold. Old code beside it: runs on; what it ends has rows of its own.
-- Twin: mssql/sql/migrations/0011_archive_packs.sql: there a task has a row of its own
create table taskgate.archive_pack (
  first_task_id bigint not null constraint pk_archive_pack primary key,
  last_task_id bigint not null,
  task_definition_id int not null,
  kind text collate "C" not null,
  priority smallint not null,
  wave_id bigint,
  build bigint not null,
  task_execution_id bigint not null,
  finished_at timestamptz not null,
  purge_after timestamptz not null,
  task_ids bigint[] not null,                       -- ascending; the other lists: same length; ranks null: all 0; the last four null: the call said none
  ranks bigint[],
  created_ats timestamptz[] not null,
  fences bigint[] not null,
  durations_ms int[],
  dedupe_keys text[] collate "C",
  results text[],
  payloads text[],
  constraint ck_archive_pack_ends check (first_task_id = task_ids[1] and last_task_id = task_ids[cardinality(task_ids)]),
  constraint ck_archive_pack_span check (last_task_id - first_task_id < 4096)   -- so whoever looks for a task knows how far back its pack may begin
);
create index ix_archive_pack_finished on taskgate.archive_pack (task_definition_id, finished_at);
create index ix_archive_pack_purge on taskgate.archive_pack (purge_after);
-- As they are: to compress them takes longer than to write them (0009_lists).
alter table taskgate.archive_pack
  alter column task_ids set storage external, alter column ranks set storage external, alter column created_ats set storage external,
  alter column fences set storage external, alter column durations_ms set storage external, alter column dedupe_keys set storage external,
  alter column results set storage external, alter column payloads set storage external;
