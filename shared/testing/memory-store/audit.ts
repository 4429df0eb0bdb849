import type { AuditAction } from "../../core/audit-actions";
import type { BatchId, TaskId } from "../../core/ids";
import type { ActorInput } from "../../ports/task-store";
import { compareNumbers } from "./rows";
import type { DefinitionRow, Memory } from "./state";

interface Change {
  setting: string;
  oldValue: string | null;
  newValue: string | null;
  source: "code" | "operator";
  changedBy: string;
  reason?: string | null;
}

/** Writes down who changed what. */
export function audit(memory: Memory, definition: DefinitionRow, change: Change): void {
  memory.state.settingAudit.push({
    reason: null,
    ...change,
    definitionId: definition.definitionId,
    changedAtMs: memory.nowMs,
  });
}

/** The same of what belongs to no definition. */
export function auditShared(memory: Memory, change: Change): void {
  memory.state.settingAudit.push({
    reason: null,
    ...change,
    definitionId: 0,
    changedAtMs: memory.nowMs,
  });
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
