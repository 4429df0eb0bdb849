import { LeaseLostError } from "../core/errors";
import { isOf } from "../core/foreign-value";
import type { ExecutionId } from "../core/ids";
import type { JsonArray, JsonObject } from "../core/json";
import { enqueuePrepared } from "../enqueue/enqueue-prepared";
import type { PreparedTask } from "../enqueue/enqueue-prepared";
import type { OpenedWaves } from "../ports/batches";
import type { ClaimedTask, StoreTransaction } from "../ports/task-store";
import type { WorkerEnvironment } from "./environment";
import { jsonText } from "./new-task";

/** A task as its holder names it. */
export interface TaskInHand {
  readonly executionId: ExecutionId;
  readonly task: ClaimedTask;
  /** When its handler was started, by the monotonic clock. */
  readonly startedAtMs: number;
  /** Of the execution: a transaction may not wait for a worker for longer. */
  readonly leaseMs: number;
}

/** What is committed together. */
export interface Completion {
  readonly children: readonly PreparedTask[];
  readonly body?: (
    transaction: StoreTransaction,
  ) => Promise<JsonObject | JsonArray | null | undefined | void>;
  /** JSON text; used when there is no body. */
  readonly result?: string | null;
}

/**
 * Writes of the user's, children and the fenced completion, in one transaction: all of it, once, or nothing.
 * Returns definitions that got ready tasks, and batches with more to admit. Throws LeaseLostError, rolled back, when another holds the task.
 */
export async function completeInTransaction(
  environment: WorkerEnvironment,
  hand: TaskInHand,
  completion: Completion,
): Promise<OpenedWaves> {
  const bounds = { idleMs: hand.leaseMs };
  const { woken, opening } = await environment.store.transaction(async (transaction) => {
    const returned = await completion.body?.(transaction);
    const result =
      completion.body === undefined
        ? (completion.result ?? null)
        : returned == null
          ? null
          : jsonText("result", returned);
    const ready = await enqueueAll(environment, completion.children, {
      by: hand.task,
      transaction,
    });
    // With its commit in one message: from here on the group's gate is held.
    const answer = await environment.store.completeTask(
      {
        executionId: hand.executionId,
        taskId: hand.task.taskId,
        fence: hand.task.fence,
        durationMs: wholeDuration(environment.clock.monotonicMs() - hand.startedAtMs),
        result,
        endsTransaction: true,
      },
      transaction,
    );
    if (answer.status === "fenced") {
      const lost = new LeaseLostError(
        `task ${hand.task.taskId} is held by another worker now; nothing was written`,
      );
      fenced.add(lost);
      throw lost;
    }
    return { woken: [...ready, ...answer.woken], opening: answer.opening };
  }, bounds);
  environment.telemetry.count("taskgate.task.enqueued", completion.children.length);
  return { woken: [...new Set(woken)], opening };
}

/** A duration as the store takes it: whole, at most 2^31 - 1 ms, which are 24 days. */
export function wholeDuration(ms: number): number {
  return Math.min(Math.round(ms), 2_147_483_647);
}

/** Errors that say what the store answered: whoever throws the same class by himself says nothing of the lease. */
const fenced = new WeakSet<Error>();

/** Did the store say that another worker holds the task? */
export function isFenced(error: unknown): boolean {
  return isOf(error, LeaseLostError) && fenced.has(error);
}

/** Writes tasks at once, whatever becomes of the task that asks for them, and leaves hints. */
export async function enqueueNow(
  environment: WorkerEnvironment,
  tasks: readonly PreparedTask[],
  by: ClaimedTask,
): Promise<void> {
  const ready = await enqueueAll(environment, tasks, { by });
  environment.telemetry.count("taskgate.task.enqueued", tasks.length);
  await Promise.all(ready.map((definition) => environment.wakeUp.hint(definition)));
}

/** Returns definitions with tasks that are ready, or due once the transaction is committed; leaves hints for later ones. */
async function enqueueAll(
  environment: WorkerEnvironment,
  tasks: readonly PreparedTask[],
  { by, transaction }: { by: ClaimedTask; transaction?: StoreTransaction },
): Promise<string[]> {
  const ready: string[] = [];
  const hints: Promise<void>[] = [];
  await enqueuePrepared(environment, tasks, {
    within: transaction,
    // A task that was redriven after its wave had ended goes on outside the batch, and so does what it enqueues.
    onLate: (wave, count) => {
      if (by.isInWave) return "refuse";
      const facts = { taskId: by.taskId, wave, tasks: count };
      environment.logger.warn("tasks of a wave that is over run outside their batch", facts);
      return "enqueue outside";
    },
    onAdded: (definition, { ready: isReady, nextDueMs }) => {
      if (isReady || nextDueMs === 0) ready.push(definition);
      else if (nextDueMs !== null)
        hints.push(environment.wakeUp.hint(definition, { inMs: nextDueMs }));
    },
  });
  await Promise.all(hints);
  return ready;
}
