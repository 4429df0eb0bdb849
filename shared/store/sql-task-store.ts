import type { ExecutionId, TaskId } from "../core/ids";
import { StoreConflictError, TaskgateError } from "../core/errors";
import { limits } from "../core/limits";
import type { Rate } from "../core/rate";
import { cleanText } from "../core/text";
import type {
  CancelTasksInput,
  CompleteTaskInput,
  EnqueueTasksInput,
  Failure,
  Limit,
  ListGroupsInput,
  ListSharedLimitsInput,
  NewTask,
  OperatorInput,
  RedriveTasksInput,
  RescheduleTasksInput,
  SetGroupInput,
  SetRateInput,
  SetSharedLimitInput,
  SharedLimitUse,
  StartExecutionInput,
  StoreTransaction,
  TaskStore,
  TransactionBounds,
  WorkAnswer,
  WorkInput,
} from "../ports/task-store";
import type * as batches from "../ports/batches";
import type * as schedules from "../ports/schedules";
import type * as marks from "../ports/watermarks";
import * as read from "./answers";
import * as readBatch from "./batch-answers";
import * as readSchedule from "./schedule-answers";
import * as readWatermark from "./watermark-answers";
import {
  checkAdvance,
  checkFire,
  checkGroup,
  checkBeats,
  checkChangedBy,
  checkIds,
  checkInt,
  checkJsonContainer,
  checkName,
  checkReason,
  checkNewTasks,
  checkRate,
  checkRedrive,
  checkRegistration,
  checkReschedule,
  checkSchedulePause,
  checkSchedules,
  checkSetWatermark,
  cleanFailure,
  nothingToEnd,
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
    const { settings, kinds, ...rest } = input;
    const { rate, sharedLimits, ...numbers } = settings;
    const row = await this.#call("registerDefinition", {
      ...rest,
      registeredBy: cleanText(input.registeredBy, limits.nameLengthMax),
      build: String(input.build),
      ...numbers,
      limit: limitToSql(settings.limit),
      retainDoneMs: String(settings.retainDoneMs),
      retainDeadMs: String(settings.retainDeadMs),
      ...rateToSql("rate", rate ?? null),
      sharedLimits: sharedToSql(sharedLimits ?? []),
      kinds: kinds === undefined ? null : JSON.stringify(kinds),
    });
    return read.registerDefinition(row);
  }

  async setLimit(input: Parameters<TaskStore["setLimit"]>[0]) {
    const limit = input.limit === "code" ? null : limitToSql(input.limit);
    if (limit !== null) checkInt("limit", limit);
    const row = await this.#call("setLimit", { ...input, ...operatorText(input), limit });
    return read.setLimit(row);
  }

  async setRate(input: SetRateInput) {
    checkRate(input.rate);
    const { rate, ...rest } = input;
    const values = rateToSql("", rate === "code" ? null : rate);
    const none = rate === null ? { count: -1 } : {};
    const row = await this.#call("setRate", { ...rest, ...operatorText(rest), ...values, ...none });
    return read.setRate(row);
  }

  async setSharedLimit(input: SetSharedLimitInput) {
    const limit = input.limit === "code" ? null : limitToSql(input.limit);
    if (limit !== null) checkInt("limit", limit);
    const row = await this.#call("setSharedLimit", { ...input, ...operatorText(input), limit });
    return read.setSharedLimit(row);
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

  async releaseSurplus(input: { executionId: ExecutionId; keep: number }) {
    const row = await this.#call("releaseSurplus", {
      taskExecutionId: input.executionId,
      keep: input.keep,
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
    const { executionId, endsTransaction = false, ...rest } = input;
    if (input.result !== null) checkJsonContainer("result", input.result);
    const values = { taskExecutionId: executionId, ...rest };
    if (!endsTransaction)
      return read.completeTask(await this.#call("completeTask", values, within));
    if (within === undefined) throw nothingToEnd();
    return read.completeTask(await this.#caller.completeAndCommit(values, within));
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
    checkBeats(input.executions);
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
    const row = await this.#call(
      "enqueueTasks",
      {
        name: input.name,
        build: String(input.build),
        tasks: tasksToSql(input.tasks),
        operationId: input.operationId,
        joinsTransaction: within !== undefined,
        waveId: input.waveId ?? null,
      },
      within,
    );
    return read.enqueueTasks(row);
  }

  async createBatch(input: batches.CreateBatchInput) {
    checkName(input.name);
    return readBatch.createBatch(await this.#call("createBatch", { ...input }));
  }

  async startBatch(input: Parameters<TaskStore["startBatch"]>[0]) {
    return readBatch.startBatch(await this.#call("startBatch", input));
  }

  async pumpBatch(input: Parameters<TaskStore["pumpBatch"]>[0]) {
    return readBatch.pumpBatch(await this.#call("pumpBatch", input));
  }

  async resumeBatch(input: Parameters<TaskStore["resumeBatch"]>[0]) {
    return readBatch.resumeBatch(await this.#call("resumeBatch", input));
  }

  async cancelBatch(input: Parameters<TaskStore["cancelBatch"]>[0]) {
    return readBatch.cancelBatch(await this.#call("cancelBatch", input));
  }

  async listBatches(input: batches.ListBatchesInput) {
    const row = await this.#call("listBatches", {
      batchId: input.batchId ?? null,
      before: input.before ?? null,
      most: input.most,
    });
    return readBatch.listBatches(row);
  }

  async advanceWatermark(input: marks.AdvanceWatermarkInput, within?: StoreTransaction) {
    checkAdvance(input);
    const values = { ...input, build: String(input.build), tasks: tasksToSql(input.tasks) };
    return readWatermark.advanceWatermark(await this.#call("advanceWatermark", values, within));
  }

  async setWatermark(input: marks.SetWatermarkInput) {
    checkSetWatermark(input);
    const values = { expectedVersion: null, ...input, ...operatorText(input) };
    return readWatermark.setWatermark(await this.#call("setWatermark", values));
  }

  async listWatermarks(input: marks.ListWatermarksInput) {
    const values = { name: null, watermark: null, ...input };
    return readWatermark.listWatermarks(await this.#call("listWatermarks", values));
  }

  async promoteScheduled(input: { name: string; most: number }) {
    return read.promoteScheduled(await this.#call("promoteScheduled", input));
  }

  async cancelTasks(input: CancelTasksInput) {
    checkIds("task_ids", input.taskIds);
    const reason = checkReason(input.reason);
    const row = await this.#call("cancelTasks", { taskIds: input.taskIds, reason });
    return read.cancelTasks(row);
  }

  async redriveTasks(input: RedriveTasksInput) {
    checkRedrive(input);
    const none = { taskIds: null, name: null, kind: null, outcome: null, most: null };
    return read.redriveTasks(await this.#call("redriveTasks", { ...none, ...input }));
  }

  async rescheduleTasks(input: RescheduleTasksInput) {
    checkReschedule(input);
    const { taskIds, to } = input;
    const row = await this.#call("rescheduleTasks", {
      taskIds,
      runInMs: "runInMs" in to ? String(to.runInMs) : null,
      runAt: "runAt" in to ? to.runAt.toISOString() : null,
    });
    return read.rescheduleTasks(row);
  }

  async setGroup(input: SetGroupInput) {
    checkGroup(input);
    const none = { slots: null, paused: null, isStrict: null };
    const row = await this.#call("setGroup", { ...none, ...input, ...operatorText(input) });
    return read.setGroup(row);
  }

  async setSchedules(input: schedules.SetSchedulesInput) {
    checkSchedules(input);
    const row = await this.#call("setSchedules", {
      name: input.name,
      build: String(input.build),
      schedules: JSON.stringify(input.schedules),
      changedBy: cleanText(input.changedBy, limits.nameLengthMax),
    });
    return readSchedule.setSchedules(row);
  }

  async setSchedulePaused(input: schedules.SetSchedulePausedInput) {
    checkSchedulePause(input);
    const { nextRunAt, ...rest } = input;
    const row = await this.#call("setSchedulePaused", {
      ...rest,
      ...operatorText(input),
      nextRunAt: nextRunAt?.toISOString() ?? null,
    });
    return readSchedule.setSchedulePaused(row);
  }

  async fireSchedule(input: schedules.FireScheduleInput) {
    checkFire(input);
    const row = await this.#call("fireSchedule", {
      scheduleId: input.scheduleId,
      expectedRunAt: input.expectedRunAt.toISOString(),
      runAts: JSON.stringify(input.runAts),
      nextRunAt: input.nextRunAt?.toISOString() ?? null,
    });
    return readSchedule.fireSchedule(row);
  }

  async listSchedules(input: schedules.ListSchedulesInput) {
    return readSchedule.listSchedules(await this.#call("listSchedules", { name: null, ...input }));
  }

  async sweep(input: { most: number }) {
    return read.sweep(await this.#call("sweep", input));
  }

  async purge(input: { most: number }) {
    return read.purge(await this.#call("purge", input));
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

  async listGroups(input: ListGroupsInput) {
    return read.listGroups(
      await this.#call("listGroups", { name: null, groupKey: null, ...input }),
    );
  }

  async listSharedLimits(input: ListSharedLimitsInput) {
    return read.listSharedLimits(await this.#call("listSharedLimits", { name: null, ...input }));
  }

  async explainTask(input: { taskId: TaskId }) {
    return read.explainTask(await this.#call("explainTask", input));
  }

  async checkInvariants() {
    return read.checkInvariants(await this.#call("checkInvariants", {}));
  }

  async transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
    bounds?: TransactionBounds,
  ) {
    return this.#caller.transaction(body, bounds);
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
    // Without an operation id an enqueue is only protected by dedupe keys, a watermark's move by its version, of which a
    // repeat would be told as a conflict: a lost answer is the caller's to judge.
    const isSafe = values["operationId"] !== null;
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
    changedBy: checkChangedBy(input.changedBy),
    reason: checkReason(input.reason),
  };
}

/** The array that the procedures read. */
function tasksToSql(tasks: readonly NewTask[]): string {
  return JSON.stringify(
    tasks.map(({ traceParent, runAt, ...task }) => ({
      ...task,
      runAt: runAt?.toISOString(),
      trace: traceParent,
    })),
  );
}

function limitToSql(limit: Limit): number {
  return limit ?? -1;
}

/** Shared limits as JSON; a limit that isn't said stays as it is. */
function sharedToSql(shared: readonly SharedLimitUse[]): string | null {
  if (shared.length === 0) return null;
  return JSON.stringify(
    shared.map(({ name, limit }) => ({
      name,
      limit: limit === undefined ? null : limitToSql(limit),
    })),
  );
}

/** A rate as three parameters, all null without one. */
function rateToSql(prefix: "rate" | "", rate: Rate | null): Record<string, number | null> {
  const { count = null, periodMs = null, burst = null } = rate ?? {};
  return prefix === "rate"
    ? { rateCount: count, ratePeriodMs: periodMs, rateBurst: burst }
    : { count, periodMs, burst };
}
