-- 0005_schedules: what schedules need besides their table.
-- Duration: milliseconds. Locks: none that anybody else can hold. Old code beside it: runs on, and fires nothing.
-- Twin: mssql/sql/migrations/0005_schedules.sql
-- The group that a schedule's tasks join; no row: none. Written under the schedule's row lock only.
create table taskgate.schedule_group (
  schedule_id int constraint pk_schedule_group primary key,
  group_key text collate "C" not null
);
