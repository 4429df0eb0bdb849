import { InvalidArgumentError } from "../core/errors";
import type { OperationId, TaskId } from "../core/ids";
import { asOperationId } from "../core/ids";
import { limits } from "../core/limits";
import type { EnqueueTasksAnswer, NewTask, StoreTransaction } from "../ports/task-store";
import type { WorkerEnvironment } from "./environment";
import { prepareTask } from "./new-task";
import { registerAll } from "./register";
import type { Registry } from "./registry";
import type { EnqueueRequest } from "./task-context";

/** What became of one requested task. */
export interface Enqueued {
  /** Of a duplicate: the first task's id. */
  readonly taskId: TaskId;
  readonly outcome: "enqueued" | "duplicate";
}

/** Adds tasks from anywhere: functions, scripts, tests. */
export class TaskClient {
  readonly #environment: WorkerEnvironment;
  readonly #registry: Registry;

  constructor(environment: WorkerEnvironment, registry: Registry) {
    this.#environment = environment;
    this.#registry = registry;
  }

  /**
   * Adds tasks in input order and leaves hints. Any number: cut into calls of 10,000 tasks or 4 MiB. Each call is one
   * transaction and is safe to repeat. `within` a user's transaction: they exist when it commits, and no hint is left
   * (call `wake` afterwards, or rely on the sweep). A definition that the database doesn't know yet is registered first.
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
    for (const definition of new Set(prepared.map((entry) => entry.definition))) {
      const own = prepared.filter((entry) => entry.definition === definition);
      for (const piece of pieces(own)) {
        const answer = await this.#send(
          definition,
          piece.map((entry) => entry.task),
          within,
        );
        piece.forEach((entry, at) => {
          const taskId = answer.taskIds[at];
          const outcome = answer.outcomes[at];
          if (taskId !== undefined && outcome !== undefined)
            results[entry.index] = { taskId, outcome };
        });
        if (within === undefined) this.#hint(definition, answer);
      }
    }
    this.#environment.telemetry.count("taskgate.task.enqueued", list.length);
    return results;
  }

  /** Leaves a hint, after a transaction that enqueued has committed. */
  async wake(definition: string): Promise<void> {
    await this.#environment.wakeUp.hint(definition);
  }

  async #send(
    definition: string,
    tasks: NewTask[],
    within: StoreTransaction | undefined,
  ): Promise<EnqueueTasksAnswer> {
    const operationId: OperationId | null =
      within === undefined ? asOperationId(this.#environment.random.uuid()) : null;
    const ask = () =>
      this.#environment.store.enqueueTasks(
        { name: definition, build: this.#environment.build, tasks, operationId },
        within,
      );
    // An error inside the user's transaction would doom it: there the definition is registered beforehand, on a connection of its own.
    const known = this.#registry.definition(definition);
    if (within !== undefined && known !== null) {
      await registerAll(this.#environment, this.#registry, known);
    }
    try {
      return await ask();
    } catch (error) {
      const isUnknown =
        error instanceof InvalidArgumentError && error.code === "TASKGATE_ARG_UNKNOWN";
      if (!isUnknown || known === null || within !== undefined) throw error;
      await registerAll(this.#environment, this.#registry, known);
      return ask();
    }
  }

  /** Not waited for: hints of one moment are sent as one, and losing one costs time only. */
  #hint(definition: string, answer: EnqueueTasksAnswer): void {
    if (answer.ready) void this.#environment.wakeUp.hint(definition);
    else if (answer.nextDueMs !== null)
      void this.#environment.wakeUp.hint(definition, { inMs: answer.nextDueMs });
  }
}

/** Half of what one call may carry, because text in text grows by its quotes. */
const pieceBytes = limits.enqueueBytesMax / 2;

function pieces<Entry extends { task: NewTask }>(entries: readonly Entry[]): Entry[][] {
  const result: Entry[][] = [];
  let current: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = 200 + 2 * Buffer.byteLength(entry.task.payload ?? "");
    if (
      current.length === limits.enqueueTasksMax ||
      (current.length > 0 && bytes + size > pieceBytes)
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
