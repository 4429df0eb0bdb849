-- 0014_call_audit: the audit of calls that change no setting: cancel, redrive, reschedule, batches, and tasks added by HTTP or the command.
-- Duration: milliseconds: an empty table. Locks: none that another caller can hold. Old code beside it: runs on; its calls name no actor.
-- Twin: mssql/sql/migrations/0014_call_audit.sql
-- Entries of one retention stand together, so that a purge and a list read from an end.
create table taskgate.call_audit (
  is_enqueue boolean not null,                      -- kept for 30 days; the others for 400
  changed_at timestamptz not null,
  call_audit_id bigint generated always as identity,
  action text not null,                             -- name of the operation
  task_definition_id int not null,                  -- 0: tasks of several definitions, or a batch
  batch_id bigint,
  task_count int not null,
  task_ids text,                                    -- JSON array of strings: the first 1000 of them
  changed_by text not null,
  reason text,
  constraint pk_call_audit primary key (is_enqueue, changed_at, call_audit_id)
);
