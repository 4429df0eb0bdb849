-- 0012_kinds: what the code says of a kind's tasks, so that it holds whoever enqueues them.
-- Duration: milliseconds: an empty table. Locks: none that anybody else can hold. Old code beside it: runs on, and registers no rules.
-- Twin: mssql/sql/migrations/0012_kinds.sql
-- A kind without rules has no row. Either a path into the payload gives the group's key, or a function in the code does: then callers
-- without the code must say the group.
create table taskgate.task_kind (
  task_definition_id int not null,
  kind text not null,
  group_by text,
  is_group_computed boolean not null,
  priority smallint,
  run_in_ms bigint,
  dedupe_by text,
  dedupe_ms bigint,
  constraint pk_task_kind primary key (task_definition_id, kind)
);
