import { asOperationId } from "../core/ids";
import type { OperationId, TaskId } from "../core/ids";
import { enqueuePrepared } from "../enqueue/enqueue-prepared";
import type { Enqueued } from "../enqueue/enqueue-prepared";
import type { NewTask } from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import type { Actor, AdminTools, OfDefinition } from "./admin-tools";
import type { EnqueueRequest } from "./enqueue-request";

/** What an enqueue did, in input order. */
export interface EnqueueReport {
  readonly definition: string;
  readonly tasks: readonly {
    readonly task: TaskId;
    readonly outcome: "enqueued" | "duplicate" | "replaced";
  }[];
  readonly enqueued: number;
  /** First tasks that carry a new payload. */
  readonly replaced: number;
  readonly duplicates: number;
  /** Until the earliest scheduled one is due. */
  readonly nextDueMs: number | null;
}

/** Adds tasks and leaves hints. With an operation id a repeat adds nothing and answers the same. */
export async function enqueue(
  options: AdminOptions,
  request: EnqueueRequest & Actor & OfDefinition,
): Promise<EnqueueReport> {
  const { random, currentTraceParent, completeTasks } = options;
  const { definition, changedBy, operationId = asOperationId(random.uuid()) } = request;
  const current = currentTraceParent?.() ?? null;
  const traced = request.tasks.map((task) =>
    current === null ? task : { traceParent: current, ...task },
  );
  const { allowsUnknownKind } = request;
  const rows = await (completeTasks?.({ definition, allowsUnknownKind }, traced) ?? traced);
  const { tasks, nextDueMs } = await addTasks(options, {
    definition,
    rows,
    operationId,
    changedBy,
  });
  const count = (wanted: string): number =>
    tasks.filter(({ outcome }) => outcome === wanted).length;
  return {
    definition,
    tasks: tasks.map(({ taskId: task, outcome }) => ({ task, outcome })),
    enqueued: count("enqueued"),
    replaced: count("replaced"),
    duplicates: count("duplicate"),
    nextDueMs,
  };
}

interface Addition extends Actor, OfDefinition {
  /** Complete: nothing of their kinds is added here. */
  readonly rows: readonly NewTask[];
  readonly operationId: OperationId;
  readonly reason?: string;
}

/** Adds tasks as they are, and leaves hints. `nextDueMs`: until the earliest scheduled one is due; null: none is. */
export async function addTasks(
  tools: Parameters<typeof enqueuePrepared>[0] & AdminTools,
  { definition, rows, operationId, changedBy, reason }: Addition,
): Promise<{ tasks: Enqueued[]; nextDueMs: number | null }> {
  const { wakeUp, onEnqueued } = tools;
  const traceParent = rows[0]?.traceParent;
  const trace = traceParent === undefined ? {} : { traceParent };
  const hints: Promise<void>[] = [];
  let nextDueMs: number | null = null;
  const tasks = await enqueuePrepared(
    tools,
    rows.map((task) => ({ definition, task })),
    {
      operationId,
      changedBy,
      ...(reason === undefined ? {} : { reason }),
      onAdded: (_, answer) => {
        nextDueMs = answer.nextDueMs;
        if (answer.ready)
          hints.push(wakeUp.hint(definition, { ...trace, tasks: answer.taskIds.length }));
        if (answer.nextDueMs !== null)
          hints.push(wakeUp.hint(definition, { inMs: answer.nextDueMs, ...trace }));
      },
    },
  );
  onEnqueued?.(rows.length);
  await Promise.all(hints);
  return { tasks, nextDueMs };
}
