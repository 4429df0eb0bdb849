-- 0005_stops: what an operator's stop of everything has paused, so that its end resumes exactly that.
-- Duration: milliseconds: empty tables. Locks: none that anybody else can hold. Old code beside it: the functions alone know them.
-- Twin: mssql/sql/migrations/0005_stops.sql

-- Written by who holds the definition's row only. An operator's own pause or resume takes the definition out.
create table taskgate.stopped_definition (
  task_definition_id int not null constraint pk_stopped_definition primary key,
  stopped_at timestamptz not null,
  stopped_by text not null,
  reason text
);

-- Written by who holds the schedule's row only.
create table taskgate.stopped_schedule (
  schedule_id int not null constraint pk_stopped_schedule primary key,
  stopped_at timestamptz not null,
  stopped_by text not null,
  reason text
);
