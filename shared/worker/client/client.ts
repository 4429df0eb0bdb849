import { inTask } from "../../core/error-places";
import type { TaskId } from "../../core/ids";
import { checkNames } from "../../core/known-names";
import { checkList, wrongValue } from "../../core/wrong-value";
import { enqueuePrepared } from "../../enqueue/enqueue-prepared";
import type { Enqueued, PreparedTask } from "../../enqueue/enqueue-prepared";
import { hintEnqueued, sendHintsOf } from "../../enqueue/hint-enqueued";
import type { StoreTransaction } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";
import { awaitEnd } from "./await-end";
import type { TaskEnd } from "./await-end";
import type { BatchCalls } from "../define/batch-calls";
import { BatchClient } from "./batches";
import { givenTransaction } from "./given-transaction";
import type { WatermarkCalls } from "../define/block-options";
import type { TaskCalls } from "../define/task-calls";
import { isPlain, JointEnqueues } from "./joint-enqueues";
import { hasRules, prepareChecked } from "./new-task";
import { ensureRegistered } from "./register";
import type { Registry } from "../define/registry";
import {
  checkEnqueueNames,
  checkManyNames,
  checkRequests,
  checkTask,
  toRequest,
} from "../define/task-ref";
import type {
  AnyTaskRef,
  ClientEnqueueOptions,
  EnqueueArguments,
  EnqueueCalls,
  TaskInput,
  TaskRequest,
  TaskResult,
} from "../define/task-ref";
import { Tasks } from "./tasks";
import { Watermarks } from "./watermarks";

/** What became of one requested task, and when workers look for it. */
export interface EnqueuedTask extends Enqueued {
  /**
   * Longest time until workers look for the task, ms from the moment it may run. 0: a hint goes to them. More: the app's next
   * sweep finds it. null: not known, or enqueued within a transaction (`committed` answers it then).
   */
  readonly startsWithinMs: number | null;
}

/** Adds tasks from anywhere, and looks after them: functions, scripts, tests. */
export class TaskClient implements EnqueueCalls {
  readonly #environment: WorkerEnvironment;
  readonly #registry: Registry;
  readonly #joint: JointEnqueues;
  /** Ordered waves of tasks. */
  readonly batches: BatchCalls;
  /** Blocks of ranges, lists and objects, each made once. */
  readonly watermark: WatermarkCalls;
  /** Tasks that exist: where they stand, cancel, redrive, reschedule. */
  readonly tasks: TaskCalls;

  constructor(environment: WorkerEnvironment, registry: Registry) {
    this.#environment = environment;
    this.#registry = registry;
    this.#joint = new JointEnqueues(environment.timers, (tasks) => this.#send(tasks));
    this.batches = new BatchClient(environment);
    this.watermark = new Watermarks(environment, registry);
    this.tasks = new Tasks(environment);
  }

  /** As `EnqueueCalls` says. A queue that the database doesn't know yet is registered first. */
  async enqueue<Task extends AnyTaskRef>(
    task: Task,
    ...[payload, options]: EnqueueArguments<TaskInput<Task>, ClientEnqueueOptions>
  ): Promise<EnqueuedTask> {
    checkEnqueueNames(options, "transaction");
    const { transaction, ...rest } = options ?? {};
    const request = toRequest({ task, payload, options: rest });
    const [enqueued] = await this.enqueueAll([request], within(transaction));
    return enqueued as EnqueuedTask;
  }

  /** As `EnqueueCalls` says. */
  async enqueueMany<Task extends AnyTaskRef>(
    task: Task,
    payloads: readonly TaskInput<Task>[],
    options: Omit<ClientEnqueueOptions, "dedupeKey"> = {},
  ): Promise<EnqueuedTask[]> {
    checkManyNames(options);
    checkList("payloads", payloads, "payloads");
    const { transaction, ...rest } = options;
    const requests = payloads.map((payload) => toRequest({ task, payload, options: rest }));
    return this.enqueueAll(requests, within(transaction));
  }

  /** As `EnqueueCalls` says. */
  async enqueueAll(
    requests: readonly TaskRequest[],
    options: { transaction?: StoreTransaction } = {},
  ): Promise<EnqueuedTask[]> {
    checkNames("enqueueAll", options, ["transaction"]);
    checkRequests(requests);
    const transaction = givenTransaction(options);
    const trace = this.#environment.telemetry.currentTraceParent();
    const prepared: PreparedTask[] = [];
    for (const [index, request] of requests.entries()) {
      try {
        const one = prepareChecked(request, trace, this.#registry);
        // Of a schema that answers at once nothing is waited for: a turn for each task is a tenth of a large call.
        prepared.push(one instanceof Promise ? await one : one);
      } catch (error) {
        throw inTask(error, { index, of: requests.length });
      }
    }
    const lone = transaction === undefined ? this.#lonePlain(requests, prepared) : null;
    const results =
      lone === null ? await this.#send(prepared, transaction) : [await this.#joint.enqueue(lone)];
    this.#environment.telemetry.count("taskgate.task.enqueued", requests.length);
    const startsWithinMs =
      transaction === undefined
        ? await this.#startsWithinMs(prepared.map(({ definition }) => definition))
        : new Map<string, number | null>();
    return results.map(({ taskId, outcome }, index) => ({
      taskId,
      outcome,
      startsWithinMs: startsWithinMs.get(prepared[index]?.definition ?? "") ?? null,
    }));
  }

  /** Tasks that wait for others to share a call with wait no longer. */
  protected sendAllWaiting(): void {
    this.#joint.sendAllWaiting();
  }

  /** The only task of a call, where it may share the call with others. */
  #lonePlain(
    [request, another]: readonly TaskRequest[],
    [prepared]: readonly PreparedTask[],
  ): PreparedTask | null {
    if (request === undefined || another !== undefined || prepared === undefined) return null;
    return isPlain(prepared) && hasRules(request.task, this.#registry) ? prepared : null;
  }

  async #send(prepared: readonly PreparedTask[], within?: StoreTransaction): Promise<Enqueued[]> {
    return enqueuePrepared(this.#environment, prepared, {
      within,
      arePayloadsWritten: true,
      call: (definition, send) => {
        const about = { registry: this.#registry, definition, isWithin: within !== undefined };
        return ensureRegistered(this.#environment, about, send);
      },
      onAdded: (definition, answer) => {
        hintEnqueued(this.#environment, definition, { ...answer, within });
      },
    });
  }

  /**
   * Waits until a task of the kind has ended, by default 60 s at most: its state, its result and its last error;
   * `unfinished` when the time is up. For scripts and tests; a function had better let the task itself start the next
   * work. Throws InvalidArgumentError for a task that is of another kind, or that the database doesn't know (any more: with
   * `retain.doneMs` 0 a task that is done is kept nowhere, and neither is its result).
   */
  async waitFor<Task extends AnyTaskRef>(
    task: Task,
    taskId: string,
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<TaskEnd<TaskResult<Task>>> {
    checkTask(task);
    checkNames("waitFor", options, ["timeoutMs", "signal"]);
    const { timeoutMs = 60_000, signal } = options;
    if (typeof timeoutMs !== "number" || Number.isNaN(timeoutMs))
      throw wrongValue("timeoutMs", "a number of milliseconds", timeoutMs);
    if (typeof taskId !== "string")
      throw wrongValue("taskId", "the id of a task, which is a text", taskId);
    const about = { kind: task.kind, taskId: taskId as TaskId };
    const until = { timeoutMs, ...(signal && { signal }) };
    return awaitEnd<TaskResult<Task>>(this.#environment, about, until);
  }

  /**
   * Leaves the hints of tasks that were enqueued within `transaction`: call it after the commit. `ctx.completeWith` does it by
   * itself. After a rollback it costs a worker one look. Answers when workers look for the tasks. Never rejects.
   */
  async committed(transaction: StoreTransaction): Promise<Pick<EnqueuedTask, "startsWithinMs">> {
    const all = [...(await this.#startsWithinMs(await sendHintsOf(transaction))).values()];
    const known = all.filter((ms) => ms !== null);
    const isKnown = all.length > 0 && known.length === all.length;
    return { startsWithinMs: isKnown ? Math.max(...known) : null };
  }

  /** By definition. */
  async #startsWithinMs(definitions: readonly string[]): Promise<Map<string, number | null>> {
    const { startsWithinMs } = this.#environment;
    const within = new Map<string, number | null>();
    for (const definition of new Set(definitions))
      within.set(definition, (await startsWithinMs?.(definition)) ?? null);
    return within;
  }
}

/** Options of `enqueueAll`; what isn't undefined is looked at there. */
function within(transaction: StoreTransaction | undefined): { transaction?: StoreTransaction } {
  return transaction === undefined ? {} : { transaction };
}
