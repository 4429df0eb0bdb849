-- 0006_keys: what a redrive needs to know of tasks that never came in.
-- Duration: milliseconds. Locks: none that anybody else can hold. Old code beside it: runs on.
-- Twin: mssql/sql/migrations/0006_keys.sql
-- Of archived tasks that ended before they came into their group or wave. Who holds the archive's row may write it.
create table taskgate.ended_early (
  task_id bigint constraint pk_ended_early primary key,
  pending_group_key text collate "C",               -- the group wasn't made yet
  pending_group_is_global boolean,
  was_blocked boolean not null                         -- its wave didn't count it yet
);
