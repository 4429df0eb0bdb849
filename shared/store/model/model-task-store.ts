import { InvalidArgumentError } from "../../core/errors";
import { limits } from "../../core/limits";
import { cleanText } from "../../core/text";
import type { TaskId } from "../../core/ids";
import type { Random } from "../../ports/random";
import type * as batches from "../../ports/batches";
import type * as schedules from "../../ports/schedules";
import type * as marks from "../../ports/watermarks";
import type * as port from "../../ports/task-store";
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
} from "../check-input";
import { unknownArgument } from "./arguments";
import {
  cancelBatch,
  createBatch,
  listBatches,
  pumpBatch,
  resumeBatch,
  startBatch,
} from "./batches";
import { cancelTasks } from "./cancel";
import { completeTask, reportProgress, work } from "./claims";
import { pauseDefinition, registerDefinition, resumeDefinition, setLimit } from "./definitions";
import { enqueueTasks } from "./enqueue";
import { finishExecution, heartbeat, startExecution } from "./executions";
import { explainTask } from "./explain";
import { failTasks } from "./failures";
import { checkInvariants } from "./invariants";
import { allStandings } from "./places";
import { purge } from "./purge";
import { setRate } from "./rates";
import { listDefinitions, listExecutions, listTasks, sweep } from "./read-models";
import { reclaimExpired } from "./reclaim";
import { rescheduleTasks } from "./reschedule";
import { redriveTasks } from "./redrive";
import { listGroups, setGroup } from "./group-settings";
import { definitionNamed } from "./rows";
import { promoteScheduled } from "./schedule";
import { fireSchedule, listSchedules, setSchedulePaused, setSchedules } from "./cron-schedules";
import { listSharedLimits, setSharedLimit } from "./shared-limits";
import { createSequences, emptyState } from "./state";
import type { Model, ModelState } from "./state";
import { acquireTokens, releaseSurplus, releaseTokens } from "./tokens";
import { ModelTransaction } from "./transaction";
import { advanceWatermark, listWatermarks, setWatermark } from "./watermarks";
import type { Operation } from "./transaction";

/** What the model depends on: the same clock and chance give the same history. */
export interface ModelStoreOptions {
  /** The database's clock: epoch milliseconds. It is read once per operation. */
  clock: { now(): number };
  random: Random;
}

/** What tests see of a model store. A copy: changing it changes nothing. */
export interface ModelInspection {
  /** Token strings by definition name. */
  tokens: Record<string, string>;
  /**
   * By task id: ready, scheduled, group_waiting, claimed, or how it ended; several only when
   * something is broken.
   */
  places: Record<string, string[]>;
  /** Every row. */
  state: ModelState;
}

/**
 * The store in memory: the executable specification of the SQL core, for tests without a database
 * (users' tests, too). Answers and effects equal those of the SQL adapters. What it hasn't:
 * durability, SQL (`query` throws), rows locked by others, and so `busy`, lock time-outs and waits.
 * Each operation takes effect when its method is called.
 */
export class ModelTaskStore implements port.TaskStore {
  readonly dialect = "model";
  readonly #options: ModelStoreOptions;
  readonly #sequences = createSequences();
  readonly #transactions = new WeakSet<port.StoreTransaction>();
  #state = emptyState();

  constructor(options: ModelStoreOptions) {
    this.#options = options;
  }

  async registerDefinition(input: port.RegisterDefinitionInput) {
    checkRegistration(input);
    const registeredBy = cleanText(input.registeredBy, limits.nameLengthMax);
    return this.#run((model) => registerDefinition(model, { ...input, registeredBy }));
  }

  async setLimit(input: port.SetLimitInput) {
    if (typeof input.limit === "number") checkInt("limit", input.limit);
    const clean = cleanOperator(input);
    return this.#run((model) => setLimit(model, clean));
  }

  async setRate(input: port.SetRateInput) {
    checkRate(input.rate);
    const clean = cleanOperator(input);
    return this.#run((model) => setRate(model, clean));
  }

  async setSharedLimit(input: port.SetSharedLimitInput) {
    if (typeof input.limit === "number") checkInt("limit", input.limit);
    const clean = cleanOperator(input);
    return this.#run((model) => setSharedLimit(model, clean));
  }

  async pauseDefinition(input: port.OperatorInput) {
    const clean = cleanOperator(input);
    return this.#run((model) => pauseDefinition(model, clean));
  }

  async resumeDefinition(input: port.OperatorInput) {
    const clean = cleanOperator(input);
    return this.#run((model) => resumeDefinition(model, clean));
  }

  async startExecution(input: port.StartExecutionInput) {
    checkName(input.name);
    checkInt("want", input.want);
    const worker = cleanText(input.worker, Number.MAX_SAFE_INTEGER);
    return this.#run((model) => startExecution(model, { ...input, worker }));
  }

  async createBatch(input: batches.CreateBatchInput) {
    checkName(input.name);
    return this.#run((model) => createBatch(model, input));
  }

  async startBatch(input: Parameters<port.TaskStore["startBatch"]>[0]) {
    return this.#run((model) => startBatch(model, input));
  }

  async pumpBatch(input: Parameters<port.TaskStore["pumpBatch"]>[0]) {
    return this.#run((model) => pumpBatch(model, input));
  }

  async resumeBatch(input: Parameters<port.TaskStore["resumeBatch"]>[0]) {
    return this.#run((model) => resumeBatch(model, input));
  }

  async cancelBatch(input: Parameters<port.TaskStore["cancelBatch"]>[0]) {
    return this.#run((model) => cancelBatch(model, input));
  }

  async listBatches(input: batches.ListBatchesInput) {
    return this.#run((model) => listBatches(model, input));
  }

  async acquireTokens(input: Parameters<port.TaskStore["acquireTokens"]>[0]) {
    return this.#run((model) => acquireTokens(model, input));
  }

  async releaseTokens(input: Parameters<port.TaskStore["releaseTokens"]>[0]) {
    return this.#run((model) => releaseTokens(model, input));
  }

  async releaseSurplus(input: Parameters<port.TaskStore["releaseSurplus"]>[0]) {
    return this.#run((model) => releaseSurplus(model, input));
  }

  async work(input: port.WorkInput) {
    checkInt("want", input.want);
    for (const { result } of input.done) if (result !== null) checkJsonContainer("result", result);
    return this.#run((model) => work(model, input));
  }

  async completeTask(input: port.CompleteTaskInput, within?: port.StoreTransaction) {
    if (input.result !== null) checkJsonContainer("result", input.result);
    const { endsTransaction = false, ...call } = input;
    if (endsTransaction && within === undefined) throw nothingToEnd();
    const answer = this.#run((model) => completeTask(model, call), within);
    if (endsTransaction && within instanceof ModelTransaction) {
      if (answer.status === "fenced") within.rollBack();
      else this.#state = within.commit(this.#model());
    }
    return answer;
  }

  async failTasks(input: Parameters<port.TaskStore["failTasks"]>[0]) {
    const { executionId } = input;
    const failures = input.failures.map(cleanFailure);
    return this.#run((model) => failTasks(model, { executionId, failures }));
  }

  async heartbeat(input: Parameters<port.TaskStore["heartbeat"]>[0]) {
    return this.#run((model) => {
      checkBeats(input.executions);
      return heartbeat(model, input);
    });
  }

  async reportProgress(input: port.ReportProgressInput) {
    const text = input.text === null ? null : cleanText(input.text, limits.progressTextLengthMax);
    return this.#run((model) => reportProgress(model, { ...input, text }));
  }

  async finishExecution(input: Parameters<port.TaskStore["finishExecution"]>[0]) {
    return this.#run((model) => finishExecution(model, input));
  }

  async reclaimExpired(input: { most: number }) {
    return this.#run((model) => reclaimExpired(model, input));
  }

  async enqueueTasks(input: port.EnqueueTasksInput, within?: port.StoreTransaction) {
    checkNewTasks(input);
    return this.#run((model) => enqueueTasks(model, input, within !== undefined), within);
  }

  async advanceWatermark(input: marks.AdvanceWatermarkInput, within?: port.StoreTransaction) {
    checkAdvance(input);
    return this.#run((model) => advanceWatermark(model, input), within);
  }

  async setWatermark(input: marks.SetWatermarkInput) {
    checkSetWatermark(input);
    const clean = cleanOperator(input);
    return this.#run((model) => setWatermark(model, clean));
  }

  async listWatermarks(input: marks.ListWatermarksInput) {
    return this.#run((model) => listWatermarks(model, input));
  }

  async promoteScheduled(input: { name: string; most: number }) {
    return this.#run((model) => promoteScheduled(model, input));
  }

  async cancelTasks(input: port.CancelTasksInput) {
    checkIds("task_ids", input.taskIds);
    const { taskIds } = input;
    return this.#run((model) => cancelTasks(model, { taskIds, reason: checkReason(input.reason) }));
  }

  async redriveTasks(input: port.RedriveTasksInput) {
    checkRedrive(input);
    return this.#run((model) => redriveTasks(model, input));
  }

  async rescheduleTasks(input: port.RescheduleTasksInput) {
    checkReschedule(input);
    return this.#run((model) => rescheduleTasks(model, input));
  }

  async setGroup(input: port.SetGroupInput) {
    checkGroup(input);
    const clean = cleanOperator(input);
    return this.#run((model) => setGroup(model, clean));
  }

  async setSchedules(input: schedules.SetSchedulesInput) {
    checkSchedules(input);
    const changedBy = cleanText(input.changedBy, limits.nameLengthMax);
    return this.#run((model) => setSchedules(model, { ...input, changedBy }));
  }

  async setSchedulePaused(input: schedules.SetSchedulePausedInput) {
    checkSchedulePause(input);
    const clean = cleanOperator(input);
    return this.#run((model) => setSchedulePaused(model, clean));
  }

  async fireSchedule(input: schedules.FireScheduleInput) {
    checkFire(input);
    return this.#run((model) => fireSchedule(model, input));
  }

  async listSchedules(input: schedules.ListSchedulesInput) {
    return this.#run((model) => listSchedules(model, input));
  }

  async sweep(input: { most: number }) {
    return this.#run((model) => sweep(model, input));
  }

  async purge(input: { most: number }) {
    return this.#run((model) => purge(model, input));
  }

  async listDefinitions(input: { name?: string }) {
    return this.#run((model) => listDefinitions(model, input));
  }

  async listExecutions(input: port.ListExecutionsInput) {
    return this.#run((model) => listExecutions(model, input));
  }

  async listTasks(input: Parameters<port.TaskStore["listTasks"]>[0]) {
    return this.#run((model) => listTasks(model, input));
  }

  async listGroups(input: port.ListGroupsInput) {
    return this.#run((model) => listGroups(model, input));
  }

  async listSharedLimits(input: port.ListSharedLimitsInput) {
    return this.#run((model) => listSharedLimits(model, input));
  }

  async explainTask(input: { taskId: TaskId }) {
    return this.#run((model) => explainTask(model, input));
  }

  async checkInvariants() {
    return this.#run((model) => checkInvariants(model.state));
  }

  /** See ModelTransaction for what it promises and where it differs from SQL. */
  async transaction<Result>(
    body: (transaction: port.StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    const transaction = new ModelTransaction();
    this.#transactions.add(transaction);
    let result: Result;
    try {
      result = await body(transaction);
    } catch (error) {
      transaction.rollBack();
      throw error;
    }
    if (transaction.isOpen) this.#state = transaction.commit(this.#model());
    return result;
  }

  /** There is nothing to end. */
  async close(): Promise<void> {
    return Promise.resolve();
  }

  /** For tests: everything the store knows. */
  inspect(): ModelInspection {
    const state = structuredClone(this.#state);
    const definitions = [...state.definitions.values()];
    const places: Record<string, string[]> = {};
    const standings = [
      ...allStandings(state),
      ...[...state.archive.values()].map((row) => ({
        taskId: row.task.taskId,
        place: row.outcome,
      })),
    ];
    for (const { taskId, place } of standings) (places[taskId] ??= []).push(place);
    return {
      tokens: Object.fromEntries(definitions.map((row) => [row.name, row.executionTokens])),
      places,
      state,
    };
  }

  /** For tests: puts a text where a definition's token string was. */
  damageTokens(name: string, text: string): void {
    definitionNamed(this.#state, name).executionTokens = text;
  }

  /** For tests: changes rows past the operations, to plant a fault or to remove a row. */
  damage(change: (state: ModelState) => void): void {
    change(this.#state);
  }

  /** For tests: asks for a task's end, as an operator's cancel does when the task is running. */
  requestCancel(taskId: TaskId): void {
    const task = this.#state.tasks.get(taskId);
    if (task === undefined) throw unknownArgument(`task: unknown or finished (${taskId})`);
    task.isCancelRequested = true;
  }

  #model(): Model {
    return {
      state: this.#state,
      sequences: this.#sequences,
      nowMs: this.#options.clock.now(),
      random: this.#options.random,
    };
  }

  #run<Answer>(operation: Operation<Answer>, within?: port.StoreTransaction): Answer {
    if (within === undefined) return operation(this.#model());
    if (!(within instanceof ModelTransaction) || !this.#transactions.has(within)) {
      throw new InvalidArgumentError("Expected the transaction to be one of this model store's");
    }
    return within.run(operation, this.#model());
  }
}

/** Who and why, for the audit. */
function cleanOperator<Input extends port.OperatorInput>(input: Input): Input {
  checkName(input.name);
  const changedBy = checkChangedBy(input.changedBy);
  const reason = checkReason(input.reason);
  return reason === null ? { ...input, changedBy } : { ...input, changedBy, reason };
}
