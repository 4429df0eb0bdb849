import type { WaveId } from "../../core/ids";
import { bool, columns, int, intOrNull, oneOf, status } from "./columns";
import { callToSql, checkNewTasks, enqueuedTasks } from "./new-tasks";
import type { EnqueuedTasks, NewTask } from "./new-tasks";
import { operationsOf } from "./operation";
import { cleanActor } from "./operator";
import type { StoreTransaction } from "./store-transaction";

/* ---- Enqueue: tasks are added, and made claimable when they are due ---- */

/** Tasks on their way to being claimable. */
export interface EnqueueOperations {
  /** Adds tasks; with `within`, inside the user's own transaction. Idempotent by operation id and by dedupe keys. */
  enqueueTasks(input: EnqueueTasksInput, within?: StoreTransaction): Promise<EnqueueTasksAnswer>;
  /** Makes due tasks claimable. */
  promoteScheduled(input: { name: string; max: number }): Promise<PromoteScheduledAnswer>;
}

export interface EnqueueTasksInput {
  name: string;
  build: number;
  /** 1..10,000 tasks, at most 8 MiB. */
  tasks: readonly NewTask[];
  /** `jsonTextOf` has written each payload: it is sound, and isn't read here to see that. */
  arePayloadsWritten?: true;
  /** A UUID made at random for this call and kept for its repeats; null: it isn't repeated. */
  operationId: string | null;
  /** They are blocked until this wave of a batch opens; then none has `runAt` or `runInMs`. */
  waveId?: WaveId;
  /** The operator, for the audit; left out: the app itself, which leaves no entry there. */
  changedBy?: string;
  /** Why, for that entry. */
  reason?: string;
}

export interface EnqueueTasksAnswer extends EnqueuedTasks {
  /** Nothing was written when the wave takes no tasks: it is sealed and will be opened, or late: it was opened, or its batch was cancelled. */
  status: "enqueued" | "sealed" | "late";
}

const promoted = columns({
  status: oneOf("promoted", "none"),
  promoted: int,
  nextDueMs: intOrNull,
  ready: bool,
});
/** Answer of `promoteScheduled`. */
export type PromoteScheduledAnswer = ReturnType<typeof promoted>;

const operation = operationsOf<EnqueueOperations>();

/** Procedure `enqueue_tasks`. */
export const enqueueTasks = operation("enqueueTasks", {
  right: "worker",
  parameters: {
    name: "text",
    build: "bigint",
    tasks: "text",
    operationId: "uuid",
    joinsTransaction: "boolean",
    waveId: "bigint",
    changedBy: "text",
    reason: "text",
    isChecked: "boolean",
    payloads: "text",
  },
  check: ({ arePayloadsWritten, ...input }) => {
    checkNewTasks(input, arePayloadsWritten);
    return { ...input, ...cleanActor(input) };
  },
  bind: ({ tasks, waveId = null, changedBy = null, reason = null, ...rest }, isWithin) => ({
    ...rest,
    ...callToSql(tasks),
    joinsTransaction: isWithin,
    waveId,
    changedBy,
    reason,
    // A pass over all names costs a fifth of a large call; `callToSql` writes none but these.
    isChecked: true,
  }),
  decode: (row) => ({
    status: status(row, ["enqueued", "sealed", "late"]),
    ...enqueuedTasks(row),
  }),
});

/** Procedure `promote_scheduled`. */
export const promoteScheduled = operation("promoteScheduled", {
  right: "worker",
  parameters: { name: "text", max: "int" },
  decode: promoted,
});
