-- 0007_spread: what lets tokens wander from those who hold many to those who were denied.
-- Duration: milliseconds: one row per definition. Locks: none that anybody else can hold. Old code beside it: runs on, and gives nothing.
-- Twin: mssql/sql/migrations/0007_spread.sql
-- When a holder gave tokens for somebody who was denied; written under the definition's row lock only.
create table taskgate.token_gift (
  task_definition_id int constraint pk_token_gift primary key,
  given_at timestamptz not null
);
-- A definition has its two rows from its registration on: a denial changes one, and never waits for one that is being made.
insert into taskgate.token_demand (task_definition_id, denied_at)
select d.task_definition_id, '2000-01-01 00:00:00+00' from taskgate.task_definition d on conflict do nothing;
insert into taskgate.token_gift (task_definition_id, given_at)
select d.task_definition_id, '2000-01-01 00:00:00+00' from taskgate.task_definition d;
