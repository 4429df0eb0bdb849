-- 0010_shared_spread: what lets the tokens of shared limits wander from those who hold many to those who were denied.
-- Duration: milliseconds: one row per shared limit. Locks: none that anybody else can hold. Old code beside it: runs on, and gives nothing.
-- Twin: mssql/sql/migrations/0010_shared_spread.sql
-- When somebody was denied by a shared limit, and of which definition; when a holder gave for that one, written under the limit's row lock only.
create table taskgate.shared_token_demand (
  shared_limit_id int constraint pk_shared_token_demand primary key,
  denied_at timestamptz not null,
  task_definition_id int,
  given_at timestamptz not null
);
-- A limit has its row from the beginning: a denial changes one, and never waits for one that is being made.
insert into taskgate.shared_token_demand (shared_limit_id, denied_at, given_at)
select s.shared_limit_id, '2000-01-01 00:00:00+00', '2000-01-01 00:00:00+00' from taskgate.shared_limit s;
