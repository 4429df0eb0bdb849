-- 0008_groups: what lets go of groups that nobody needs. From here on a task names its group only while it holds a slot or waits for one.
-- Duration: one read of archive and task. Locks: their writers wait for that long. Old code beside it: runs on.
-- Twin: mssql/sql/migrations/0008_groups.sql
-- Groups that an operator has set stay. Written under the group's row lock only.
create table taskgate.group_kept (
  group_id int constraint pk_group_kept primary key
);
-- How far a purge has looked through the groups: one row, and one purge at a time.
create table taskgate.group_round (
  round_id smallint constraint pk_group_round primary key, -- always 1
  last_group_id int not null,                       -- 0: a round begins
  ended_at timestamptz not null                     -- of the last round
);
insert into taskgate.group_round (round_id, last_group_id, ended_at) values (1, 0, '2000-01-01 00:00:00+00');
-- A task that may be redriven needs its group. One that is done names none.
create index ix_archive_group on taskgate.archive (group_id) where group_id is not null;
-- What operators have set so far, as the audit tells it: `<value> of <key>`.
insert into taskgate.group_kept (group_id)
select g.group_id from taskgate.task_group g
 where g.paused or exists (
   select 1 from taskgate.setting_audit a
    where a.setting in ('group_slots', 'group_paused', 'group_strict')
      and (g.task_definition_id = 0 or a.task_definition_id = g.task_definition_id)
      and substr(a.new_value, strpos(a.new_value, ' of ') + 4) = g.group_key);
update taskgate.task t
   set group_id = null, pending_group_key = g.group_key, pending_group_is_global = g.task_definition_id = 0
  from taskgate.task_group g
 where g.group_id = t.group_id
   and not exists (select 1 from taskgate.group_slot s where s.group_id = t.group_id and s.task_id = t.task_id)
   and not exists (select 1 from taskgate.group_waiting w
                    where w.group_id = t.group_id and w.priority = t.priority and w.rank = t.rank and w.task_id = t.task_id);
