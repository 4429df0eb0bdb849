import { AssertionError } from "../core/errors";
import type { OperationId, TaskId } from "../core/ids";
import { asOperationId } from "../core/ids";
import { limits } from "../core/limits";
import type { EnqueueTasksAnswer, NewTask, StoreTransaction } from "../ports/task-store";
import type { WorkerEnvironment } from "./environment";
import { awaitEnd } from "./await-end";
import type { TaskEnd } from "./await-end";
import { BatchClient } from "./batches";
import { bytesOf, callBytesMax } from "./call-size";
import { hintEnqueued } from "./hint-enqueued";
import { callsOf, expectInTime, prepareTask } from "./new-task";
import type { PreparedTask } from "./new-task";
import { askKnown } from "./register";
import type { Registry } from "./registry";
import type { EnqueueRequest } from "./task-context";
import { Watermarks } from "./watermarks";

/** What became of one requested task. */
export interface Enqueued {
  /** Of a duplicate, replaced or not: the first task's id. */
  readonly taskId: TaskId;
  readonly outcome: "enqueued" | "duplicate" | "replaced";
}

/** Adds tasks from anywhere: functions, scripts, tests. */
export class TaskClient {
  readonly #environment: WorkerEnvironment;
  readonly #registry: Registry;
  /** Ordered waves of tasks. */
  readonly batches: BatchClient;
  /** Blocks of ranges, lists and objects, each made once. */
  readonly watermark: Watermarks;

  constructor(environment: WorkerEnvironment, registry: Registry) {
    this.#environment = environment;
    this.#registry = registry;
    this.batches = new BatchClient(environment);
    this.watermark = new Watermarks(environment, registry);
  }

  /**
   * Adds tasks in input order and leaves hints. Any number: cut into calls of 10,000 tasks or 4 MiB. Each call is one
   * transaction and is safe to repeat. `within` a user's transaction: they exist when it commits, and no hint is left
   * (call `wake` afterwards, or rely on the sweep). A definition that the database doesn't know yet is registered first.
   * Throws InvalidArgumentError when a `wave` takes no tasks any more.
   */
  async enqueue(
    requests: EnqueueRequest | readonly EnqueueRequest[],
    within?: StoreTransaction,
  ): Promise<Enqueued[]> {
    const list: readonly EnqueueRequest[] = Array.isArray(requests)
      ? (requests as readonly EnqueueRequest[])
      : [requests as EnqueueRequest];
    const trace = this.#environment.telemetry.currentTraceParent();
    const prepared = list.map((request, index) => ({ index, ...prepareTask(request, trace) }));
    const results: Enqueued[] = new Array<Enqueued>(list.length);
    for (const call of callsOf(prepared)) {
      for (const piece of pieces(call)) {
        const answer = await this.#send(piece, within);
        piece.forEach((entry, at) => {
          const taskId = answer.taskIds[at];
          const outcome = answer.outcomes[at];
          if (taskId !== undefined && outcome !== undefined)
            results[entry.index] = { taskId, outcome };
        });
        const [first] = piece;
        if (within === undefined && first !== undefined)
          hintEnqueued(this.#environment.wakeUp, first.definition, answer);
      }
    }
    this.#environment.telemetry.count("taskgate.task.enqueued", list.length);
    return results;
  }

  /**
   * Waits until a task has ended, by default 60 s at most: its state, its result and its last error; `unfinished` when the
   * time is up. For scripts and tests; a function had better let the task itself start what comes next.
   */
  async ended(
    taskId: TaskId,
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<TaskEnd> {
    return awaitEnd(this.#environment, taskId, { timeoutMs: 60_000, ...options });
  }

  /** Leaves a hint, after a transaction that enqueued has committed. */
  async wake(definition: string): Promise<void> {
    await this.#environment.wakeUp.hint(definition);
  }

  /** Of one definition, and of one wave or none. */
  async #send(
    piece: readonly PreparedTask[],
    within: StoreTransaction | undefined,
  ): Promise<EnqueueTasksAnswer> {
    const [first] = piece;
    if (first === undefined) throw new AssertionError("There is nothing to send");
    const { definition, waveId } = first;
    const input = {
      name: definition,
      build: this.#environment.build,
      tasks: piece.map((entry) => entry.task),
      ...(waveId === undefined ? {} : { waveId }),
    };
    const operationId: OperationId | null =
      within === undefined ? asOperationId(this.#environment.random.uuid()) : null;
    const isWithin = within !== undefined;
    return askKnown(
      this.#environment,
      { registry: this.#registry, definition, isWithin },
      async () => {
        const answer = await this.#environment.store.enqueueTasks(
          { ...input, operationId },
          within,
        );
        expectInTime(answer, waveId);
        return answer;
      },
    );
  }
}

function pieces<Entry extends { task: NewTask }>(entries: readonly Entry[]): Entry[][] {
  const result: Entry[][] = [];
  let current: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = bytesOf(entry.task);
    if (
      current.length === limits.enqueueTasksMax ||
      (current.length > 0 && bytes + size > callBytesMax)
    ) {
      result.push(current);
      current = [];
      bytes = 0;
    }
    current.push(entry);
    bytes += size;
  }
  if (current.length > 0) result.push(current);
  return result;
}
