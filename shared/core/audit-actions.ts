/** Operations that leave entries in the audit, by their names in SQL. */
export const auditActions = [
  "register_definition",
  "set_schedules",
  "set_limit",
  "set_rate",
  "set_shared_limit",
  "pause_definition",
  "resume_definition",
  "set_group",
  "set_schedule_paused",
  "set_watermark",
  "set_definition_owner",
  "set_stop",
  "cancel_tasks",
  "redrive_tasks",
  "reschedule_tasks",
  "cancel_batch",
  "resume_batch",
  "enqueue_tasks",
] as const;

/** Name of an operation that leaves entries in the audit. */
export type AuditAction = (typeof auditActions)[number];
