import type { TaskId } from "../core/ids";
import { enqueuePrepared } from "../enqueue/enqueue-prepared";
import type { Enqueued } from "../enqueue/enqueue-prepared";
import { hintEnqueued } from "../enqueue/hint-enqueued";
import type { StoreTransaction } from "../ports/task-store";
import type { WorkerEnvironment } from "./environment";
import { awaitEnd } from "./await-end";
import type { TaskEnd } from "./await-end";
import { BatchClient } from "./batches";
import { prepareTask } from "./new-task";
import { askKnown } from "./register";
import type { Registry } from "./registry";
import type { EnqueueRequest } from "./task-context";
import { Watermarks } from "./watermarks";

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
    const prepared = list.map((request) => prepareTask(request, trace, this.#registry));
    const results = await enqueuePrepared(this.#environment, prepared, {
      within,
      call: (definition, send) => {
        const about = { registry: this.#registry, definition, isWithin: within !== undefined };
        return askKnown(this.#environment, about, send);
      },
      onAdded: (definition, answer) => {
        if (within === undefined) hintEnqueued(this.#environment.wakeUp, definition, answer);
      },
    });
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
}
