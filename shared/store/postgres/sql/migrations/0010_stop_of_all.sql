-- 0010_stop_of_all: whether a stop of everything is on, so that definitions and schedules that come later are stopped as well.
-- Duration: milliseconds: one row; a stop that is in force is taken over. Locks: none that anybody else can hold. Old code beside it:
-- its stop pauses what there is and leaves the row alone.
-- Twin: mssql/sql/migrations/0010_stop_of_all.sql

-- Written by set_stop only; read under a lock by calls that make a definition or a schedule.
create table taskgate.stop (
  stop_id smallint not null constraint pk_stop primary key constraint ck_stop_one check (stop_id = 1),
  stopped_at timestamptz,                           -- null, as the two below: no stop is on
  stopped_by text,
  reason text
);
insert into taskgate.stop (stop_id, stopped_at, stopped_by, reason)
select 1, x.stopped_at, x.stopped_by, x.reason
  from (values (1)) one(n)
  left join (
    select s.stopped_at, s.stopped_by, s.reason
      from (select stopped_at, stopped_by, reason from taskgate.stopped_definition
            union all select stopped_at, stopped_by, reason from taskgate.stopped_schedule) s
     order by s.stopped_at limit 1) x on true;
