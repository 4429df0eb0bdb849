import { InvalidArgumentError, StoreConflictError } from "../../core/errors";
import { asTaskId, isId } from "../../core/ids";
import type { TaskId } from "../../core/ids";
import type { JsonPayload } from "../../core/json";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { checkInteger } from "../../core/text";
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
    const answer = await store.cancelTasks(this.#change(taskIds, options));
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
    const { results, woken } = await store.redriveTasks(this.#change(taskIds, options));
    this.#hint(woken);
    return results;
  }

  /** As `TaskCalls` says. */
  async reschedule(
    taskIds: string | readonly string[],
    options: { runInMs?: number; runAt?: Date; reason?: string },
  ): Promise<RescheduledTask[]> {
    checkNames("tasks.reschedule", options, ["runInMs", "runAt", "reason"]);
    const to = instantOf(options);
    const { store } = this.#environment;
    const answer = await store.rescheduleTasks({ ...this.#change(taskIds, options), to });
    this.#hint(answer.woken);
    this.#hint(answer.definitions, answer.nextDueMs ?? 0);
    return answer.results;
  }

  #change(
    taskIds: string | readonly string[],
    { reason }: { reason?: string },
  ): { taskIds: TaskId[]; changedBy: string; reason?: string } {
    const given: unknown = reason;
    if (given !== undefined && typeof given !== "string")
      throw wrongValue("reason", "a text", given);
    return {
      ...{ taskIds: idsOf(taskIds), changedBy: nameOf(this.#environment) },
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** Not waited for: a hint that is lost costs time only. */
  #hint(definitions: readonly string[], inMs = 0): void {
    for (const name of definitions) void this.#environment.wakeUp.hint(name, { inMs });
  }
}

function statusOf(facts: TaskFacts): TaskStatus {
  const { task: taskId, definition, kind, state, progress = null, result = null } = facts;
  const { error, failedCount, isCancelRequested = false, createdAt, endedAt } = facts;
  return {
    ...{ taskId, definition, kind, state, progress, error, failedCount },
    result: result === null ? null : (JSON.parse(result) as JsonPayload),
    isCancelRequested,
    createdAt: new Date(createdAt),
    endedAt: endedAt === undefined ? null : new Date(endedAt),
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

/** Checked here, where the options have their own names. */
function instantOf({ runInMs, runAt }: { runInMs?: number; runAt?: Date }) {
  if (runInMs !== undefined && runAt === undefined) {
    checkInteger("runInMs", runInMs, { min: 0, max: limits.runInMsMax });
    return { runInMs };
  }
  if (runAt !== undefined && runInMs === undefined) {
    const given: unknown = runAt;
    if (!(given instanceof Date) || Number.isNaN(given.getTime()))
      throw wrongValue("runAt", "a Date", given);
    return { runAt: given };
  }
  throw new InvalidArgumentError(
    `tasks.reschedule: expected exactly one of \`runInMs\` and \`runAt\`, got ${runAt === undefined ? "neither" : "both"}`,
    { details: { field: "runInMs" } },
  );
}
