-- 0002_rate_turns: until when a rate has given turns to executions that it denied.
-- Duration: milliseconds: an empty table. Locks: none that anybody else can hold. Old code beside it: the functions alone know it.
-- Twin: mssql/sql/migrations/0002_rate_turns.sql

-- Written by who holds the definition's rate_bucket row only; made by the first denial.
create table taskgate.rate_turn (
  task_definition_id int not null constraint pk_rate_turn primary key,
  turn_at timestamptz not null                      -- the last turn given
) with (fillfactor = 50);
