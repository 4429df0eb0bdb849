import type { ExecutionId, TaskId } from "../core/ids";
import { StoreConflictError, TaskgateError } from "../core/errors";
import { limits } from "../core/limits";
import { cleanText } from "../core/text";
import type {
  CompleteTaskInput,
  EnqueueTasksInput,
  Failure,
  Limit,
  OperatorInput,
  StartExecutionInput,
  StoreTransaction,
  TaskStore,
  WorkAnswer,
  WorkInput,
} from "../ports/task-store";
import * as read from "./answers";
import {
  checkInt,
  checkJsonContainer,
  checkName,
  checkNewTasks,
  checkRegistration,
  cleanFailure,
} from "./check-input";
import type { AnswerRow, OperationName, ParameterValue } from "./operations";
import type { ProcedureCaller } from "./procedure-caller";
import type { Repeat } from "./repeat";

/**
 * The store over a database: turns each method into one procedure call and its row into an answer.
 * It knows no dialect; `ProcedureCaller` is PostgreSQL or SQL Server. Lost answers are repeated here, since every
 * operation survives a repeat (docs/reference/sql.md, "Once"); what happens inside a user's transaction is not.
 */
export class SqlTaskStore implements TaskStore {
  readonly #caller: ProcedureCaller;
  readonly #repeat: Repeat;

  constructor(caller: ProcedureCaller, repeat: Repeat) {
    this.#caller = caller;
    this.#repeat = repeat;
  }

  get dialect(): TaskStore["dialect"] {
    return this.#caller.dialect;
  }

  async registerDefinition(input: Parameters<TaskStore["registerDefinition"]>[0]) {
    checkRegistration(input);
    const { settings, ...rest } = input;
    const row = await this.#call("registerDefinition", {
      ...rest,
      registeredBy: cleanText(input.registeredBy, limits.nameLengthMax),
      build: String(input.build),
      ...settings,
      limit: limitToSql(settings.limit),
      retainDoneMs: String(settings.retainDoneMs),
      retainDeadMs: String(settings.retainDeadMs),
    });
    return read.registerDefinition(row);
  }

  async setLimit(input: Parameters<TaskStore["setLimit"]>[0]) {
    const limit = input.limit === "code" ? null : limitToSql(input.limit);
    if (limit !== null) checkInt("limit", limit);
    const row = await this.#call("setLimit", { ...input, ...operatorText(input), limit });
    return read.setLimit(row);
  }

  async pauseDefinition(input: OperatorInput) {
    return read.pause(await this.#call("pauseDefinition", { ...input, ...operatorText(input) }));
  }

  async resumeDefinition(input: OperatorInput) {
    return read.pause(await this.#call("resumeDefinition", { ...input, ...operatorText(input) }));
  }

  async startExecution(input: StartExecutionInput) {
    checkName(input.name);
    checkInt("want", input.want);
    const row = await this.#call("startExecution", {
      ...input,
      worker: cleanText(input.worker, Number.MAX_SAFE_INTEGER),
      build: String(input.build),
    });
    return read.startExecution(row);
  }

  async acquireTokens(input: { executionId: ExecutionId; want: number }) {
    const row = await this.#call("acquireTokens", {
      taskExecutionId: input.executionId,
      want: input.want,
    });
    return read.acquireTokens(row);
  }

  async releaseTokens(input: { executionId: ExecutionId; keep: number }) {
    const row = await this.#call("releaseTokens", {
      taskExecutionId: input.executionId,
      keep: input.keep,
    });
    return read.releaseTokens(row);
  }

  async releaseSurplus(input: { executionId: ExecutionId; most: number }) {
    const row = await this.#call("releaseSurplus", {
      taskExecutionId: input.executionId,
      most: input.most,
    });
    return read.releaseSurplus(row);
  }

  async work(input: WorkInput): Promise<WorkAnswer> {
    const { done, started, after } = input;
    checkInt("want", input.want);
    for (const task of done) if (task.result !== null) checkJsonContainer("result", task.result);
    const values = {
      taskExecutionId: input.executionId,
      callNumber: String(input.callNumber),
      doneTaskIds: done.length === 0 ? null : done.map((task) => task.taskId),
      doneFences: done.length === 0 ? null : done.map((task) => task.fence),
      doneDurationsMs: done.length === 0 ? null : done.map((task) => task.durationMs),
      doneResults: done.some((task) => task.result !== null)
        ? JSON.stringify(done.map((task) => task.result))
        : null,
      startedTaskIds: started.length === 0 ? null : started,
      want: input.want,
      afterPriority: after?.priority ?? null,
      afterRank: after?.rank ?? null,
      afterTaskId: after?.taskId ?? null,
    };
    try {
      return read.work(await this.#call("work", values));
    } catch (error) {
      if (isLockTimeout(error)) return read.busyWork;
      throw error;
    }
  }

  async completeTask(input: CompleteTaskInput, within?: StoreTransaction) {
    const { executionId, ...rest } = input;
    if (input.result !== null) checkJsonContainer("result", input.result);
    const row = await this.#call("completeTask", { taskExecutionId: executionId, ...rest }, within);
    return read.completeTask(row);
  }

  async failTasks(input: { executionId: ExecutionId; failures: readonly Failure[] }) {
    const failures = input.failures
      .map(cleanFailure)
      .map(({ taskId, ...failure }) => ({ task: taskId, ...failure }));
    const row = await this.#call("failTasks", {
      taskExecutionId: input.executionId,
      failures: JSON.stringify(failures),
    });
    return read.failTasks(row);
  }

  async heartbeat(input: Parameters<TaskStore["heartbeat"]>[0]) {
    const executions = input.executions.map((beat) => ({
      execution: beat.executionId,
      started: beat.started,
    }));
    return read.heartbeat(
      await this.#call("heartbeat", { executions: JSON.stringify(executions) }),
    );
  }

  async reportProgress(input: Parameters<TaskStore["reportProgress"]>[0]) {
    const { executionId, done, total, ...rest } = input;
    const row = await this.#call("reportProgress", {
      taskExecutionId: executionId,
      ...rest,
      text: rest.text === null ? null : cleanText(rest.text, limits.progressTextLengthMax),
      done: done === null ? null : String(done),
      total: total === null ? null : String(total),
    });
    return read.reportProgress(row);
  }

  async finishExecution(input: { executionId: ExecutionId }) {
    return read.finishExecution(
      await this.#call("finishExecution", { taskExecutionId: input.executionId }),
    );
  }

  async reclaimExpired(input: { most: number }) {
    return read.reclaimExpired(await this.#call("reclaimExpired", input));
  }

  async enqueueTasks(input: EnqueueTasksInput, within?: StoreTransaction) {
    checkNewTasks(input);
    const tasks = input.tasks.map(({ traceParent, runAt, ...task }) => ({
      ...task,
      runAt: runAt?.toISOString(),
      trace: traceParent,
    }));
    const row = await this.#call(
      "enqueueTasks",
      {
        name: input.name,
        build: String(input.build),
        tasks: JSON.stringify(tasks),
        operationId: input.operationId,
        joinsTransaction: within !== undefined,
      },
      within,
    );
    return read.enqueueTasks(row);
  }

  async promoteScheduled(input: { name: string; most: number }) {
    return read.promoteScheduled(await this.#call("promoteScheduled", input));
  }

  async sweep(input: { most: number }) {
    return read.sweep(await this.#call("sweep", input));
  }

  async listDefinitions(input: { name?: string }) {
    return read.listDefinitions(await this.#call("listDefinitions", { name: input.name ?? null }));
  }

  async listExecutions(input: Parameters<TaskStore["listExecutions"]>[0]) {
    return read.listExecutions(
      await this.#call("listExecutions", { ...input, name: input.name ?? null }),
    );
  }

  async listTasks(input: Parameters<TaskStore["listTasks"]>[0]) {
    return read.listTasks(await this.#call("listTasks", input));
  }

  async explainTask(input: { taskId: TaskId }) {
    return read.explainTask(await this.#call("explainTask", input));
  }

  async checkInvariants() {
    return read.checkInvariants(await this.#call("checkInvariants", {}));
  }

  async transaction<Result>(body: (transaction: StoreTransaction) => Promise<Result>) {
    return this.#caller.transaction(body);
  }

  async close(): Promise<void> {
    await this.#caller.close();
  }

  async #call(
    operation: OperationName,
    values: Readonly<Record<string, ParameterValue>>,
    within?: StoreTransaction,
  ): Promise<AnswerRow> {
    if (within !== undefined) return this.#caller.call(operation, values, within);
    // Without an operation id an enqueue is only protected by dedupe keys: a lost answer is the caller's to judge.
    const isSafe = !(operation === "enqueueTasks" && values["operationId"] === null);
    return this.#repeat(
      () => this.#caller.call(operation, values),
      (error) =>
        error instanceof TaskgateError &&
        !(operation === "work" && isLockTimeout(error)) &&
        (error.isRetryable || (isSafe && error.code === "TASKGATE_STORE_UNCERTAIN")),
    );
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreConflictError && error.details["isLockTimeout"] === true;
}

/** Who and why, for the audit. */
function operatorText(input: OperatorInput): { changedBy: string; reason: string | null } {
  checkName(input.name);
  return {
    changedBy: cleanText(input.changedBy, limits.nameLengthMax),
    reason: input.reason === undefined ? null : cleanText(input.reason, 400),
  };
}

function limitToSql(limit: Limit): number {
  return limit ?? -1;
}
