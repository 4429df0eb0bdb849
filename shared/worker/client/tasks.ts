import { InvalidArgumentError, StoreConflictError } from "../../core/errors";
import { asTaskId, isId } from "../../core/ids";
import type { TaskId } from "../../core/ids";
import type { JsonPayload } from "../../core/json";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { wrongValue } from "../../core/wrong-value";
import type { TaskFacts } from "../../ports/task-store";
import type {
  CancelledTask,
  RedrivenTask,
  RescheduledTask,
  TaskCalls,
  TaskStatus,
} from "../define/task-calls";
import { nameOf } from "../environment";
import type { WorkerEnvironment } from "../environment";
import { openWaves } from "./batches";

/** A task that moves all the time is given up after so many reads. */
const readsMax = 5;

/** Tasks as `TaskCalls` describes them. */
export class Tasks implements TaskCalls {
  readonly #environment: WorkerEnvironment;

  constructor(environment: WorkerEnvironment) {
    this.#environment = environment;
  }

  /** As `TaskCalls` says. */
  async read(taskId: string): Promise<TaskStatus | null> {
    const id = idOf("taskId", taskId);
    for (let read = 1; read <= readsMax; read += 1) {
      const { status, facts } = await this.#environment.store.explainTask({ taskId: id });
      if (status === "unknown") return null;
      if (facts !== null) return statusOf(facts);
    }
    throw new StoreConflictError(
      `Task ${id} is moving from one state to another at this instant: ask again`,
    );
  }

  /** As `TaskCalls` says. */
  async cancel(
    taskIds: string | readonly string[],
    options: { reason?: string } = {},
  ): Promise<CancelledTask[]> {
    checkNames("tasks.cancel", options, ["reason"]);
    const { store } = this.#environment;
    const answer = await store.cancelTasks({ ...options, ...this.#change(taskIds) });
    await openWaves(this.#environment, answer);
    return answer.results;
  }

  /** As `TaskCalls` says. */
  async redrive(
    taskIds: string | readonly string[],
    options: { reason?: string } = {},
  ): Promise<RedrivenTask[]> {
    checkNames("tasks.redrive", options, ["reason"]);
    const { store } = this.#environment;
    const { results, woken } = await store.redriveTasks({ ...options, ...this.#change(taskIds) });
    this.#hint(woken);
    return results;
  }

  /** As `TaskCalls` says. */
  async reschedule(
    taskIds: string | readonly string[],
    options: { runInMs?: number; runAt?: Date; reason?: string },
  ): Promise<RescheduledTask[]> {
    checkNames("tasks.reschedule", options, ["runInMs", "runAt", "reason"]);
    const { runInMs, runAt, ...rest } = options;
    const change = { ...rest, ...this.#change(taskIds), to: instantOf({ runInMs, runAt }) };
    const answer = await this.#environment.store.rescheduleTasks(change);
    this.#hint(answer.woken);
    this.#hint(answer.definitions, answer.nextDueMs ?? 0);
    return answer.results;
  }

  #change(taskIds: string | readonly string[]): { taskIds: TaskId[]; changedBy: string } {
    return { taskIds: idsOf(taskIds), changedBy: nameOf(this.#environment) };
  }

  /** Not waited for: a hint that is lost costs time only. */
  #hint(definitions: readonly string[], inMs = 0): void {
    for (const name of definitions) void this.#environment.wakeUp.hint(name, { inMs });
  }
}

function statusOf(facts: TaskFacts): TaskStatus {
  const { task: taskId, definition, kind, state, progress = null, result = null } = facts;
  const { lastError: error, failedCount, cancelRequested = false, createdAt, finishedAt } = facts;
  return {
    ...{ taskId, definition, kind, state, progress, error, failedCount },
    result: result === null ? null : (JSON.parse(result) as JsonPayload),
    isCancelRequested: cancelRequested,
    createdAt: new Date(createdAt),
    finishedAt: finishedAt === undefined ? null : new Date(finishedAt),
  };
}

function idsOf(given: string | readonly string[]): TaskId[] {
  const ids: unknown = typeof given === "string" ? [given] : given;
  const expected = `an id, or a list of 1..${String(limits.idsMax)} ids`;
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > limits.idsMax)
    throw wrongValue("taskIds", expected, given);
  return ids.map((id: unknown, index) => idOf(`taskIds[${String(index)}]`, id));
}

function idOf(field: string, id: unknown): TaskId {
  if (typeof id === "string" && isId(id)) return asTaskId(id);
  throw wrongValue(field, "an id in decimal digits", id);
}

function instantOf({ runInMs, runAt }: { runInMs: number | undefined; runAt: Date | undefined }) {
  if (runInMs !== undefined && runAt === undefined) return { runInMs };
  if (runAt !== undefined && runInMs === undefined) return { runAt };
  throw new InvalidArgumentError(
    `tasks.reschedule: expected exactly one of \`runInMs\` and \`runAt\`, got ${runAt === undefined ? "neither" : "both"}`,
    { details: { field: "runInMs" } },
  );
}
