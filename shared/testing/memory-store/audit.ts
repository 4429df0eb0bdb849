import type { AuditAction } from "../../core/audit-actions";
import type { BatchId, TaskId } from "../../core/ids";
import type { ActorInput } from "../../ports/task-store";
import { compareNumbers } from "./rows";
import type { DefinitionRow, Memory, SettingAuditRow } from "./state";

type Change = Omit<SettingAuditRow, "definitionId" | "reason" | "changedAtMs"> & {
  reason?: string | null;
};

/** Writes down who changed what; null: it belongs to no definition. */
export function audit(memory: Memory, definition: DefinitionRow | null, change: Change): void {
  memory.state.settingAudit.push({
    reason: null,
    ...change,
    definitionId: definition?.definitionId ?? 0,
    changedAtMs: memory.nowMs,
  });
}

/** The part of a change that says which operator made it. */
export function byOperator({ changedBy, reason = null }: OperatorCall) {
  return { source: "operator", changedBy, reason } as const;
}

/** Who made a call, and why. */
interface OperatorCall {
  readonly changedBy: string;
  readonly reason?: string | null;
}

/** Who calls a SQL operation without a name. */
const unnamed = "sql:memory";

/** Writes who called an operation that changed tasks or a batch, but no setting. */
export function auditCall(
  memory: Memory,
  action: AuditAction,
  call: ActorInput & { tasks?: readonly CalledTask[]; batchId?: BatchId },
): void {
  const { tasks = [], batchId = null, changedBy = unnamed, reason = null } = call;
  const [first = 0, ...others] = new Set(tasks.map((task) => task.definitionId));
  memory.state.callAudit.push({
    callAuditId: memory.sequences.next("call"),
    isEnqueue: action === "enqueue_tasks",
    action,
    definitionId: others.length > 0 ? 0 : first,
    batchId,
    taskIds: tasks.map((task) => task.taskId).sort(compareNumbers),
    changedBy,
    reason,
    changedAtMs: memory.nowMs,
  });
}

/** A task that a call changed. */
interface CalledTask {
  readonly taskId: TaskId;
  readonly definitionId: number;
}
