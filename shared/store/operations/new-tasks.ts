import { asTaskId } from "../../core/ids";
import type { TaskId } from "../../core/ids";
import { limits } from "../../core/limits";
import { checkInteger, checkKey } from "../../core/text";
import { checkInstant, checkJsonContainer, checkName } from "./checks";
import { bool, intOrNull, list, names } from "./columns";
import type { AnswerRow } from "./operation";

/*
 * Tasks that a call adds: what an enqueue and a watermark's move have in common.
 */

export interface NewTask {
  /** JSON text of an object or array, at most 64 KiB, stored as given; null: none. */
  payload: string | null;
  /** Default: the definition's name. */
  kind?: string;
  /** Lower first; -32,768..32,767, default 100. */
  priority?: number;
  /**
   * null: none, said so. Left out: what the kind's rule says; where the rule is a function, only its code can tell, and the
   * call is refused.
   */
  group?: string | null;
  groupScope?: "definition" | "global";
  /** 0..100 years; not together with `runAt`. */
  runInMs?: number;
  runAt?: Date;
  dedupeKey?: string;
  /** The key is held this long; default: until the task ends. */
  dedupeMs?: number;
  /** replace: the earlier task gets this payload if it hasn't been started; default keep. */
  onDuplicate?: "keep" | "replace";
  traceParent?: string;
}

/** What became of added tasks. */
export interface EnqueuedTasks {
  /** In input order; of a duplicate: the first task's. */
  taskIds: TaskId[];
  /** In input order. */
  outcomes: ("enqueued" | "duplicate" | "replaced")[];
  /** Some may be claimed at once: a hint is due. */
  ready: boolean;
  nextDueMs: number | null;
}

/** Keys, numbers, and payloads that are the text of a JSON object or array. */
export function checkNewTasks(input: { name: string; tasks: readonly NewTask[] }): void {
  checkName(input.name);
  input.tasks.forEach((task, index) => {
    checkNewTask(task, `tasks[${String(index)}]`);
  });
}

function checkNewTask(task: NewTask, at: string): void {
  if (task.kind !== undefined) checkKey(`${at}.kind`, task.kind);
  if (task.group != null) checkKey(`${at}.group`, task.group);
  if (task.dedupeKey !== undefined) checkKey(`${at}.dedupeKey`, task.dedupeKey);
  if (task.priority !== undefined) {
    checkInteger(`${at}.priority`, task.priority, {
      min: limits.priorityMin,
      max: limits.priorityMax,
    });
  }
  if (task.runInMs !== undefined)
    checkInteger(`${at}.runInMs`, task.runInMs, { min: 0, max: limits.runInMsMax });
  if (task.dedupeMs !== undefined)
    checkInteger(`${at}.dedupeMs`, task.dedupeMs, { min: 1, max: limits.runInMsMax });
  checkInstant(`${at}.runAt`, task.runAt ?? null);
  if (task.payload !== null) checkJsonContainer(`${at}.payload`, task.payload);
}

/** The array that the procedures read. Members that they don't know are left out here. */
export function tasksToSql(tasks: readonly NewTask[]): string {
  return JSON.stringify(tasks.map(toSql));
}

function toSql(task: NewTask): object {
  return {
    payload: task.payload,
    kind: task.kind,
    priority: task.priority,
    group: task.group,
    groupScope: task.groupScope,
    runInMs: task.runInMs,
    runAt: task.runAt?.toISOString(),
    dedupeKey: task.dedupeKey,
    dedupeMs: task.dedupeMs,
    onDuplicate: task.onDuplicate,
    trace: task.traceParent,
  };
}

/** The added tasks, from the answer's row; no task ids: none were added. */
export function enqueuedTasks(row: AnswerRow): EnqueuedTasks {
  const taskIds = names(row, "taskIds").map(asTaskId);
  const outcomes =
    row["outcomes"] == null
      ? taskIds.map(() => "enqueued" as const)
      : list<"enqueued" | "duplicate" | "replaced">(row, "outcomes", taskIds.length);
  return {
    taskIds,
    outcomes,
    ready: bool(row, "ready"),
    nextDueMs: intOrNull(row, "nextDueMs"),
  };
}
