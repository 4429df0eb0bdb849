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

/** Keys, numbers, and payloads that are the text of a JSON object or array, unless `jsonTextOf` has written them. */
export function checkNewTasks(
  { name, tasks }: { name: string; tasks: readonly NewTask[] },
  arePayloadsWritten = false,
): void {
  checkName(name);
  tasks.forEach((task, index) => {
    const at = `tasks[${String(index)}]`;
    checkNewTask(task, at);
    if (task.payload !== null && !arePayloadsWritten)
      checkJsonContainer(`${at}.payload`, task.payload);
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
}

/**
 * The tasks of one call. Where they differ in nothing but their payloads, as those of most large calls, the payloads go as
 * they are: no text within a text is written and read, and the common members are read once.
 */
export function callToSql(tasks: readonly NewTask[]): { tasks: string; payloads: string | null } {
  const payloads = tasks.length > 1 ? alikeButFor(tasks) : null;
  if (payloads === null) return { tasks: tasksToSql(tasks), payloads: null };
  return {
    tasks: tasksToSql([{ ...tasks[0], payload: null }]),
    payloads: `[${payloads.join(",")}]`,
  };
}

/** The payloads of tasks that are alike in all else; null: they aren't, or one has none. */
function alikeButFor(tasks: readonly NewTask[]): string[] | null {
  const [first] = tasks;
  const payloads: string[] = [];
  for (const task of tasks) {
    if (task.payload === null || first === undefined || !isAlike(task, first)) return null;
    payloads.push(task.payload);
  }
  return payloads;
}

/** Member by member: this runs for each task of a large call. */
function isAlike(task: NewTask, other: NewTask): boolean {
  return (
    task.kind === other.kind &&
    task.priority === other.priority &&
    task.group === other.group &&
    task.groupScope === other.groupScope &&
    task.runInMs === other.runInMs &&
    task.runAt?.getTime() === other.runAt?.getTime() &&
    task.dedupeKey === other.dedupeKey &&
    task.dedupeMs === other.dedupeMs &&
    task.onDuplicate === other.onDuplicate &&
    task.traceParent === other.traceParent
  );
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
