-- Roles: workers and operators execute operations and read the log and the schema's version, by which they know whether they
-- fit; only the owner touches another table. Safe to run again.
-- Roles belong to the whole PostgreSQL server, so each is made only where it is missing. Grant them to your logins.
-- Twin: mssql/sql/roles.sql
do $$
begin
  if not exists (select 1 from pg_roles where rolname = 'taskgate_worker') then create role taskgate_worker nologin; end if;
  if not exists (select 1 from pg_roles where rolname = 'taskgate_operator') then create role taskgate_operator nologin; end if;
exception when duplicate_object or unique_violation then null;   -- another migration made it at this moment
end $$;

revoke all on all functions in schema taskgate from public;
grant usage on schema taskgate to taskgate_worker, taskgate_operator;
grant select on taskgate.v_execution_log, taskgate.schema_version to taskgate_worker, taskgate_operator;
grant execute on function taskgate.register_app, taskgate.list_apps, taskgate.register_definition, taskgate.start_execution, taskgate.acquire_tokens, taskgate.release_tokens,
  taskgate.release_surplus, taskgate.work, taskgate.complete_task, taskgate.fail_tasks, taskgate.heartbeat, taskgate.report_progress,
  taskgate.finish_execution, taskgate.reclaim_expired, taskgate.enqueue_tasks, taskgate.promote_scheduled, taskgate.sweep, taskgate.purge,
  taskgate.create_batch, taskgate.start_batch, taskgate.pump_batch, taskgate.list_batches,
  taskgate.list_definitions, taskgate.list_executions, taskgate.list_tasks, taskgate.explain_task, taskgate.list_groups,
  taskgate.list_shared_limits,
  taskgate.set_schedules, taskgate.list_schedules, taskgate.fire_schedule,
  taskgate.advance_watermark, taskgate.list_watermarks, taskgate.list_audit,
  taskgate.list_failures, taskgate.list_stopped, taskgate.read_pace, taskgate.read_statistics, taskgate.roll_up_statistics
  to taskgate_worker, taskgate_operator;
grant execute on function taskgate.set_limit, taskgate.set_rate, taskgate.set_shared_limit, taskgate.pause_definition, taskgate.resume_definition, taskgate.check_invariants,
  taskgate.cancel_tasks, taskgate.redrive_tasks, taskgate.set_group, taskgate.reschedule_tasks, taskgate.resume_batch,
  taskgate.cancel_batch, taskgate.set_schedule_paused, taskgate.set_watermark, taskgate.set_definition_owner,
  taskgate.set_stop
  to taskgate_operator;
