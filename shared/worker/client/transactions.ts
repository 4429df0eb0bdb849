import { LeaseLostError } from "../../core/errors";
import { isOf } from "../../core/foreign-value";
import type { ExecutionId } from "../../core/ids";
import { enqueuePrepared, isOneCall } from "../../enqueue/enqueue-prepared";
import type { PreparedTask } from "../../enqueue/enqueue-prepared";
import { hintEnqueued, sendHintsOf } from "../../enqueue/hint-enqueued";
import type { OpenedWaves } from "../../ports/task-store";
import type { ClaimedTask, StoreTransaction } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";

/** A task as its holder names it. */
export interface HeldTask {
  readonly executionId: ExecutionId;
  readonly task: ClaimedTask;
  /** When its handler was started, by the monotonic clock. */
  readonly startedAtMs: number;
  /** Of the execution: a transaction may not wait for a worker for longer. */
  readonly leaseMs: number;
}

/** The parts that are committed together. */
export interface Completion<Returned> {
  readonly children: readonly PreparedTask[];
  readonly body: (transaction: StoreTransaction) => Promise<Returned>;
  /** The task's result as JSON text. */
  readonly toResult: (returned: Returned) => string | null;
}

/**
 * Writes of the user's, children and the fenced completion, in one transaction: all of it, once, or nothing.
 * Returns what the body returned, definitions that got ready tasks by the completion, and batches with more to admit; leaves
 * the children's hints. Throws LeaseLostError, rolled back, when another holds the task.
 */
export async function completeInTransaction<Returned>(
  environment: WorkerEnvironment,
  held: HeldTask,
  completion: Completion<Returned>,
): Promise<OpenedWaves & { readonly returned: Returned }> {
  const bounds = { idleMs: held.leaseMs };
  const committed = await environment.store.transaction(async (transaction) => {
    const returned = await completion.body(transaction);
    const result = completion.toResult(returned);
    await enqueueAll(environment, completion.children, { by: held.task, transaction });
    // With its commit in one message: from here on the group's gate is held.
    const answer = await environment.store.completeTask(
      {
        executionId: held.executionId,
        taskId: held.task.taskId,
        fence: held.task.fence,
        durationMs: wholeDuration(environment.clock.monotonicMs() - held.startedAtMs),
        result,
        endsTransaction: true,
      },
      transaction,
    );
    if (answer.status === "fenced") {
      const lost = new LeaseLostError(
        `task ${held.task.taskId} is held by another worker now; nothing was written`,
      );
      fenced.add(lost);
      throw lost;
    }
    return { returned, within: transaction, woken: answer.woken, opening: answer.opening };
  }, bounds);
  const { returned, within, woken, opening } = committed;
  // Of the children, and of what the body has enqueued by itself. Not waited for, like other hints.
  void sendHintsOf(within);
  environment.telemetry.count("taskgate.task.enqueued", completion.children.length);
  return { returned, woken, opening };
}

/** A duration as the store takes it: whole, at most 2^31 - 1 ms, which are 24 days. */
export function wholeDuration(ms: number): number {
  return Math.min(Math.round(ms), 2_147_483_647);
}

/** Errors that say what the store answered: an error of the same class that a handler throws says nothing of the lease. */
const fenced = new WeakSet<Error>();

/** Did the store say that another worker holds the task? */
export function isFenced(error: unknown): boolean {
  return isOf(error, LeaseLostError) && fenced.has(error);
}

/** Writes tasks at once, independent of the end of the task that asks for them, and leaves hints. */
export async function enqueueNow(
  environment: WorkerEnvironment,
  tasks: readonly PreparedTask[],
  by: ClaimedTask,
): Promise<void> {
  await enqueueAll(environment, tasks, { by });
  environment.telemetry.count("taskgate.task.enqueued", tasks.length);
}

/**
 * Writes the children of a part that goes on, all of them or none: where one is refused, the part fails and runs again, and
 * those that were written would be there twice.
 */
export async function enqueueTogether(
  environment: WorkerEnvironment,
  tasks: readonly PreparedTask[],
  { task: by, leaseMs }: HeldTask,
): Promise<void> {
  if (isOneCall(tasks)) return enqueueNow(environment, tasks, by);
  const within = await environment.store.transaction(
    async (transaction) => {
      await enqueueAll(environment, tasks, { by, transaction });
      return transaction;
    },
    { idleMs: leaseMs },
  );
  void sendHintsOf(within);
  environment.telemetry.count("taskgate.task.enqueued", tasks.length);
}

/** Adds tasks and leaves their hints, within a transaction those that `sendHintsOf` sends. */
async function enqueueAll(
  environment: WorkerEnvironment,
  tasks: readonly PreparedTask[],
  { by, transaction }: { by: ClaimedTask; transaction?: StoreTransaction },
): Promise<void> {
  await enqueuePrepared(environment, tasks, {
    within: transaction,
    // A task that was redriven after its wave had ended goes on outside the batch, and so does what it enqueues.
    onLate: (wave, count) => {
      if (by.isInWave) return "refuse";
      const facts = { taskId: by.taskId, wave, tasks: count };
      environment.logger.warn("tasks of a wave that is over run outside their batch", facts);
      return "enqueue outside";
    },
    onAdded: (definition, answer) => {
      hintEnqueued(environment, definition, { ...answer, within: transaction });
    },
  });
}
