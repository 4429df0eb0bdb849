-- 0009_statistics: counts per definition and minute.
-- Duration: milliseconds: columns with constants as defaults, and empty tables. Locks: for that time executions can't be read. Old code
-- beside it: counts nothing, so these minutes have too low counts.
-- Twin: mssql/sql/migrations/0009_statistics.sql

-- Totals of an execution, in its own row: a claim or an end counts where it writes anyhow, and waits for no other execution.
alter table taskgate.task_execution
  add column claimed_count int not null default 0,
  add column done_count int not null default 0,
  add column failed_count int not null default 0,   -- attempts, those of dead tasks too
  add column dead_count int not null default 0,
  add column lost_count int not null default 0,
  add column ran_ms bigint not null default 0,      -- of the tasks that ended well
  add column held_ms bigint not null default 0,     -- tokens times milliseconds, until tokens_at
  add column tokens_at timestamptz;                 -- since when token_count is what it is; null: since started_at

-- The rest of these four is written by roll_up_statistics only, under the lock of the one row here.
create table taskgate.statistic_round (
  round_id smallint not null constraint pk_statistic_round primary key constraint ck_statistic_round_one check (round_id = 1),
  last_execution_id bigint not null,                -- all up to it have ended and are counted, or stand in execution_counted
  ended_at timestamptz not null                     -- of the last call; 2000: there was none
);
insert into taskgate.statistic_round (round_id, last_execution_id, ended_at)
select 1, coalesce(max(e.task_execution_id), 0), '2000-01-01 00:00:00+00' from taskgate.task_execution e;

-- The counted totals of an execution that may go on.
create table taskgate.execution_counted (
  task_execution_id bigint not null constraint pk_execution_counted primary key,
  claimed_count int not null,
  done_count int not null,
  failed_count int not null,
  dead_count int not null,
  lost_count int not null,
  ran_ms bigint not null,
  held_ms bigint not null
);

create table taskgate.statistic (
  task_definition_id int not null,
  grain int not null,                          -- the period's length: 1, 10 or 60 minutes
  at timestamptz not null,                          -- its begin
  claimed int not null,
  done int not null,
  failed int not null,
  dead int not null,
  lost int not null,
  ran_ms bigint not null,
  held_ms bigint not null,
  task_limit int not null,                          -- at the last count; -1: none
  ready int not null,                               -- the most that a count found, up to 1000
  next_age_ms bigint not null,                      -- the oldest that a count found of the task that comes next; 0: none was ready
  constraint pk_statistic primary key (task_definition_id, grain, at)
);
create index ix_statistic_at on taskgate.statistic (grain, at);

-- How long tasks of a period waited and ran, from a sample, weighted so that all that ended well are counted.
create table taskgate.statistic_time (
  task_definition_id int not null,
  grain int not null,
  at timestamptz not null,
  measure smallint not null,                        -- 1 ran, 2 waited: from the enqueue until the begin
  bucket smallint not null,                         -- as _duration_bucket
  tasks int not null,
  constraint pk_statistic_time primary key (task_definition_id, grain, at, measure, bucket)
);
