-- 0009_lists: the lists of what an execution has claimed are written as they are: they live for one call, and to compress them takes
-- longer than to write them (a sixteenth of a call that ends and claims 500 tasks).
-- Duration: none; what is there stays as it is until it is written. Locks: task_execution for a moment. Old code beside it: runs on.
-- Twin: mssql/sql/migrations/0009_lists.sql
alter table taskgate.task_execution
  alter column inflight set storage external, alter column inflight_fence set storage external,
  alter column inflight_at set storage external, alter column prefetched set storage external;
