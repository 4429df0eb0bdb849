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
-- Generated: npm run generate
grant execute on function
  taskgate.acquire_tokens,
  taskgate.advance_watermark,
  taskgate.complete_task,
  taskgate.create_batch,
  taskgate.enqueue_tasks,
  taskgate.explain_task,
  taskgate.fail_tasks,
  taskgate.finish_execution,
  taskgate.fire_schedule,
  taskgate.heartbeat,
  taskgate.list_apps,
  taskgate.list_audit,
  taskgate.list_batches,
  taskgate.list_definitions,
  taskgate.list_executions,
  taskgate.list_failures,
  taskgate.list_groups,
  taskgate.list_schedules,
  taskgate.list_shared_limits,
  taskgate.list_stopped,
  taskgate.list_tasks,
  taskgate.list_watermarks,
  taskgate.promote_scheduled,
  taskgate.pump_batch,
  taskgate.purge,
  taskgate.read_free_tokens,
  taskgate.read_pace,
  taskgate.read_statistics,
  taskgate.reclaim_expired,
  taskgate.register_app,
  taskgate.register_definition,
  taskgate.release_surplus,
  taskgate.release_tokens,
  taskgate.report_progress,
  taskgate.roll_up_statistics,
  taskgate.set_schedules,
  taskgate.start_batch,
  taskgate.start_execution,
  taskgate.sweep,
  taskgate.work
  to taskgate_worker, taskgate_operator;
grant execute on function
  taskgate.cancel_batch,
  taskgate.cancel_tasks,
  taskgate.check_invariants,
  taskgate.pause_definition,
  taskgate.redrive_tasks,
  taskgate.reschedule_tasks,
  taskgate.resume_batch,
  taskgate.resume_definition,
  taskgate.set_definition_owner,
  taskgate.set_group,
  taskgate.set_limit,
  taskgate.set_rate,
  taskgate.set_schedule_paused,
  taskgate.set_shared_limit,
  taskgate.set_stop,
  taskgate.set_watermark
  to taskgate_operator;
-- End of the generated part
