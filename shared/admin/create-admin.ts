/**
 * Everything an operator asks and does, once for HTTP, command line and dashboard. Takes checked input (requests.ts),
 * returns plain JSON. May import core and ports; knows no driver, no process, no trigger.
 */
import { explainTask } from "../core/explain";
import type { Reason } from "../core/explain";
import { TaskgateError } from "../core/errors";
import { asOperationId } from "../core/ids";
import type { BatchId, TaskId } from "../core/ids";
import { nearNames } from "../core/near-name";
import type { AuditEntry, ListAuditInput, ListBatchesInput } from "../ports/task-store";
import { enqueuePrepared } from "../enqueue/enqueue-prepared";
import type { Random } from "../ports/random";
import type { ScheduleStatus } from "../ports/task-store";
import type {
  DefinitionStatus,
  ExecutionStatus,
  GroupStatus,
  Limit,
  NewTask,
  RedriveTasksInput,
  RescheduleTasksInput,
  SharedLimitReading,
  TaskFacts,
  TaskListEntry,
  TaskStore,
} from "../ports/task-store";
import type { WakeUp } from "../ports/wake-up";
import { listDefinitions, setOwner } from "./app-actions";
import type { DefinitionReport, OwnerReport } from "./app-actions";
import type { OwnerRequest } from "./app-requests";
import { cancelBatch, getBatch, listBatches, resumeBatch } from "./batch-actions";
import type { BatchReport, CancelledBatch, ResumedBatch } from "./batch-actions";
import type { BatchRequest } from "./batch-requests";
import { runDoctor } from "./doctor";
import type { DoctorProbe, DoctorReport } from "./doctor";
import { listFailures, redriveFailures } from "./failure-actions";
import type { FailuresReport, RedriveFailuresReport } from "./failure-actions";
import type { FailuresRequest, RedriveFailuresRequest } from "./failure-requests";
import { invalidInput, showValue } from "./read-result";
import { readPace } from "./pace-report";
import type { PaceReport } from "./pace-report";
import { readStatistics, readSummaries } from "./statistics-report";
import type { StatisticsReport, StatisticsSummary } from "./statistics-report";
import type { StatisticsRequest } from "./statistics-requests";
import { readStop, resumeAll, stopAll } from "./stop-actions";
import type { StopReport, StopState } from "./stop-actions";
import type { EnqueueRequest } from "./enqueue-request";
import type {
  LimitRequest,
  ListExecutionsRequest,
  ListTasksRequest,
  OperatorRequest,
} from "./requests";
import { setRate, setSharedLimit } from "./limit-actions";
import type { RateReport, SharedLimitReport } from "./limit-actions";
import type { ListSharedLimitsRequest, RateRequest } from "./limit-requests";
import { getSchedule, listSchedules, setSchedulePaused } from "./schedule-actions";
import type { SchedulePauseReport } from "./schedule-actions";
import type {
  ListSchedulesRequest,
  RunScheduleRequest,
  ScheduleRequest,
} from "./schedule-requests";
import { runSchedule } from "./schedule-run";
import type { ScheduleRunReport } from "./schedule-run";
import { cancelTasks, redriveTasks, rescheduleTasks, setGroup } from "./task-actions";
import type {
  CancelResult,
  GroupReport,
  RedriveResult,
  RescheduleResult,
  TaskResults,
} from "./task-actions";
import type { CancelRequest, GroupRequest, ListGroupsRequest } from "./task-requests";
import { listWatermarks, setWatermark } from "./watermark-actions";
import type { WatermarkChange, WatermarkReport } from "./watermark-actions";
import type { ListWatermarksRequest, WatermarkRequest } from "./watermark-requests";

/** What an admin works with. */
export interface AdminOptions {
  readonly store: TaskStore;
  readonly wakeUp: WakeUp;
  readonly random: Random;
  /** Build of the running code; enqueued tasks carry it. */
  readonly build: number;
  /** The W3C traceparent of the current span; tasks that name none of their own carry it. Default: none. */
  readonly currentTraceParent?: () => string | null;
  /**
   * Adds what the code says of the tasks' kinds, and throws InvalidArgumentError for payloads that their schemas refuse.
   * Default: the code isn't known here; the database adds what it knows of it, and refuses what only the code can tell.
   */
  readonly completeTasks?: (
    call: { readonly definition: string; readonly allowsUnknownKind?: boolean | undefined },
    tasks: readonly NewTask[],
  ) => Promise<readonly NewTask[]>;
  /** Further checks of `doctor`, such as whether the queue answers. */
  readonly probes?: readonly DoctorProbe[];
}

/** Who acts, for the audit: at most 200 characters. */
export interface Actor {
  readonly changedBy: string;
}

/** The whole at a glance. */
export interface StatusReport {
  readonly dialect: string;
  readonly build: number;
  readonly totals: {
    readonly definitions: number;
    readonly paused: number;
    readonly executions: number;
    readonly held: number;
    /** Counts of each definition stop at 10,000. */
    readonly ready: number;
    readonly scheduled: number;
    readonly waiting: number;
    readonly claimed: number;
    /** Of the claimed, as of each definition; never more than `held`. */
    readonly running: number;
    readonly prefetched: number;
    readonly dead: number;
  };
  /** Dead executions whose tasks the next sweep takes back; counted up to 1,000. */
  readonly expired: number;
  /** Until the next scheduled task or schedule is due; 0: some are; null: none is. */
  readonly nextDueMs: number | null;
  readonly definitions: readonly DefinitionReport[];
}

/** Why a task runs or not. */
export interface ExplainReport {
  /** moving: between two states at this instant; ask again. */
  readonly status: "found" | "moving";
  readonly reasons: readonly Reason[];
  readonly facts: TaskFacts | null;
}

/** What an enqueue did, in input order. */
export interface EnqueueReport {
  readonly definition: string;
  readonly tasks: readonly {
    readonly task: TaskId;
    readonly outcome: "enqueued" | "duplicate" | "replaced";
  }[];
  readonly enqueued: number;
  /** First tasks that carry a new payload. */
  readonly replaced: number;
  readonly duplicates: number;
  /** Until the earliest scheduled one is due. */
  readonly nextDueMs: number | null;
}

/** What a change of a limit did. */
export interface LimitReport {
  readonly definition: string;
  readonly oldLimit: Limit;
  readonly newLimit: Limit;
  /** Tokens held now. */
  readonly held: number;
  /** Of them above the new limit: they come back as their tasks end. */
  readonly overLimit: number;
}

/** What a pause or resume did; exists: it was so already. */
export interface PauseReport {
  readonly definition: string;
  readonly status: "paused" | "resumed" | "exists";
}

/**
 * The operator's side of the product. An unknown definition, task or execution throws InvalidArgumentError with the
 * code TASKGATE_ARG_UNKNOWN, naming near ones; a failing database throws the errors of core/errors.ts.
 */
export interface Admin {
  /** All definitions with their sums. Three reads. */
  status(): Promise<StatusReport>;
  /** All definitions by name, or the one. */
  definitions(name?: string): Promise<DefinitionReport[]>;
  /** Who works, newest first. */
  executions(request: ListExecutionsRequest): Promise<ExecutionStatus[]>;
  /** Tasks of one state: unfinished ones in the order they will be taken, finished ones newest first. */
  tasks(request: ListTasksRequest & { definition: string }): Promise<TaskListEntry[]>;
  /** Where a task stands and why. */
  explain(taskId: TaskId): Promise<ExplainReport>;
  /** Adds tasks and leaves a hint. With an operation id a repeat adds nothing and answers the same. */
  enqueue(request: EnqueueRequest & Actor & { definition: string }): Promise<EnqueueReport>;
  /** Sets or clears the operator's limit; leaves a hint when tasks wait and tokens are free. */
  setLimit(request: LimitRequest & Actor & { definition: string }): Promise<LimitReport>;
  /** Sets or clears the operator's rate; leaves a hint when tasks wait. */
  setRate(request: RateRequest & Actor & { definition: string }): Promise<RateReport>;
  /** Hands a definition over to another app, or releases it; leaves a hint. */
  setOwner(request: OwnerRequest & Actor & { definition: string }): Promise<OwnerReport>;
  /** Sets or clears the operator's limit that several definitions share, makes it if it is missing; leaves hints. */
  setSharedLimit(request: LimitRequest & Actor & { name: string }): Promise<SharedLimitReport>;
  /** Limits that definitions share, with the tokens that each definition holds, by name. */
  sharedLimits(request: ListSharedLimitsRequest): Promise<SharedLimitReading[]>;
  /** Nothing new starts until resumed; running tasks go on. */
  pause(request: OperatorRequest & Actor & { definition: string }): Promise<PauseReport>;
  /** Takes a pause away; leaves a hint when tasks wait. */
  resume(request: OperatorRequest & Actor & { definition: string }): Promise<PauseReport>;
  /** Ends waiting tasks, requests the end of running ones; leaves hints for definitions that got ready tasks by it. */
  cancel(request: CancelRequest & Actor): Promise<TaskResults<CancelResult>>;
  /** Dead letters and cancelled tasks become tasks again. */
  redrive(request: RedriveTasksInput & Actor): Promise<TaskResults<RedriveResult>>;
  /** Gives tasks that wait another instant; leaves a hint for it. */
  reschedule(request: RescheduleTasksInput & Actor): Promise<TaskResults<RescheduleResult>>;
  /** Sets a group's slots, pauses or resumes it; makes it if it is missing. */
  setGroup(request: GroupRequest & Actor & { definition: string }): Promise<GroupReport>;
  /** How far blocks have been made. */
  watermarks(request: ListWatermarksRequest): Promise<WatermarkReport[]>;
  /** Sets a watermark, unless its version is another than the expected one. Makes no tasks. */
  setWatermark(
    request: WatermarkRequest & Actor & { definition: string },
  ): Promise<WatermarkChange>;
  /** Batches and how far they are, newest first. */
  batches(request: ListBatchesInput): Promise<BatchReport[]>;
  /** One batch. Throws InvalidArgumentError (unknown). */
  batch(batchId: BatchId): Promise<BatchReport>;
  /** Lets a halted batch go on. */
  resumeBatch(request: BatchRequest & Actor): Promise<ResumedBatch>;
  /** Ends a batch: no further wave opens, its tasks end or are asked to. */
  cancelBatch(request: BatchRequest & Actor): Promise<CancelledBatch>;
  /** Schedules with their next instants, by definition and name. */
  schedules(request: ListSchedulesRequest): Promise<ScheduleStatus[]>;
  /** One schedule; without a name the only one of the definition. Throws InvalidArgumentError (unknown). */
  schedule(request: { definition: string; schedule?: string }): Promise<ScheduleStatus>;
  /** A schedule enqueues nothing until resumed; instants that pass meanwhile aren't fired later. */
  pauseSchedule(
    request: ScheduleRequest & Actor & { definition: string },
  ): Promise<SchedulePauseReport>;
  /** Lets a schedule go on with its next instant from now. */
  resumeSchedule(
    request: ScheduleRequest & Actor & { definition: string },
  ): Promise<SchedulePauseReport>;
  /** Enqueues a schedule's task now; its next instant stays. With an operation id a repeat adds nothing. Leaves a hint. */
  runSchedule(
    request: RunScheduleRequest & Actor & { definition: string },
  ): Promise<ScheduleRunReport>;
  /** Groups with their slots, by definition and key. */
  groups(request: ListGroupsRequest): Promise<GroupStatus[]>;
  /** Who changed what, when and why, newest first. */
  audit(request: ListAuditInput): Promise<AuditEntry[]>;
  /** Dead tasks by error, most first. */
  failures(request: FailuresRequest): Promise<FailuresReport>;
  /** Retries the dead tasks of one error. */
  redriveFailures(request: RedriveFailuresRequest & Actor): Promise<RedriveFailuresReport>;
  /** How a definition gets on: age of its oldest ready task, pace, time left, running tasks. `read`: the definition, where the caller has just read it. */
  pace(definition: string, read?: DefinitionStatus): Promise<PaceReport>;
  /** Counts, durations and the use of tokens over the last hour, day or week. */
  statistics(
    request: StatisticsRequest & { readonly definition: string },
  ): Promise<StatisticsReport>;
  /** The last two hours of every definition, by ten minutes. */
  summaries(): Promise<StatisticsSummary[]>;
  /** The stop that is in force; null: none is. */
  stopState(): Promise<StopState | null>;
  /** Pauses all definitions and schedules that aren't paused. */
  stopAll(request: OperatorRequest & Actor): Promise<StopReport>;
  /** Resumes the definitions and schedules that a stop has paused, and no others. */
  resumeAll(request: OperatorRequest & Actor): Promise<StopReport>;
  /** Looks for faults; `deep` checks every promise that SQL can see, over the whole database. */
  doctor(options: { deep: boolean }): Promise<DoctorReport>;
}

/** Most definitions that a sweep's read tells of. */
const sweepMax = 1_000;
/** Names that an error lists. */
const namesListedMax = 10;
/** A task that moves all the time is answered as moving after so many reads. */
const explainReadsMax = 5;

/** The one implementation. Nothing is sent before the first call. */
export function createAdmin(options: AdminOptions): Admin {
  const { store, wakeUp, random, build } = options;
  const known = <Result>(name: string, body: () => Promise<Result>): Promise<Result> =>
    withKnownNames(store, name, body);
  const newOperationId = (): ReturnType<typeof asOperationId> => asOperationId(random.uuid());
  return {
    status: () => readStatus(options),
    definitions: async (name) => {
      const definitions = await listDefinitions(store, name);
      if (name !== undefined && definitions.length === 0)
        throw await unknownDefinition(store, name);
      return definitions;
    },
    executions: async ({ definition, isOpen, max }) => {
      const name = definition === undefined ? {} : { name: definition };
      const { executions } = await store.listExecutions({ ...name, isOpen, max });
      // An empty answer doesn't tell an idle definition from a misspelt one.
      if (executions.length === 0 && definition !== undefined)
        await requireDefinition(store, definition);
      return executions;
    },
    tasks: ({ definition, state, max }) =>
      known(
        definition,
        async () => (await store.listTasks({ name: definition, state, max })).tasks,
      ),
    explain: (taskId) => explain(store, taskId),
    enqueue: (request) => known(request.definition, () => enqueue(options, request)),
    setLimit: ({ definition, operationId = newOperationId(), ...change }) =>
      known(definition, async () => {
        const answer = await store.setLimit({ ...change, name: definition, operationId });
        const isFree = answer.newLimit === null || answer.held < answer.newLimit;
        if (answer.ready && isFree) await wakeUp.hint(definition);
        const { oldLimit, newLimit, held, overLimit } = answer;
        return { definition, oldLimit, newLimit, held, overLimit };
      }),
    ...limitActions(options),
    pause: ({ definition, ...change }) =>
      known(definition, async () => {
        const { status } = await store.pauseDefinition({ ...change, name: definition });
        return { definition, status };
      }),
    resume: ({ definition, ...change }) =>
      known(definition, async () => {
        const { status, ready } = await store.resumeDefinition({ ...change, name: definition });
        if (ready) await wakeUp.hint(definition);
        return { definition, status };
      }),
    cancel: (request) => cancelTasks(options, request),
    redrive: (request) =>
      "taskIds" in request
        ? redriveTasks(options, request)
        : known(request.name, () => redriveTasks(options, request)),
    reschedule: (request) => rescheduleTasks(options, request),
    setGroup: ({ definition, ...change }) =>
      known(definition, () => setGroup(options, { ...change, name: definition })),
    watermarks: (request) => known(request.name ?? "", () => listWatermarks(options, request)),
    setWatermark: (request) => known(request.definition, () => setWatermark(options, request)),
    batches: (request) => listBatches(options, request),
    batch: (batchId) => getBatch(options, batchId),
    resumeBatch: (request) => resumeBatch(options, request),
    cancelBatch: (request) => cancelBatch(options, request),
    audit: async (request) => (await store.listAudit(request)).entries,
    ...scheduleActions(options),
    ...incidentActions(options),
    groups: (request) =>
      known(request.name ?? "", async () => (await store.listGroups(request)).groups),
    doctor: ({ deep }) => runDoctor({ store, build, deep, probes: options.probes ?? [] }),
  };
}

/** The admin's part about rates, owners and shared limits. */
function limitActions(
  options: AdminOptions,
): Pick<Admin, "setRate" | "setOwner" | "setSharedLimit" | "sharedLimits"> {
  const { store, random } = options;
  return {
    setRate: ({ definition, ...change }) =>
      withKnownNames(store, definition, () => setRate(options, { ...change, name: definition })),
    setOwner: ({ definition, ...change }) =>
      withKnownNames(store, definition, () => setOwner(options, { ...change, name: definition })),
    setSharedLimit: ({ operationId = asOperationId(random.uuid()), ...change }) =>
      setSharedLimit(options, { ...change, operationId }),
    sharedLimits: async (request) => (await store.listSharedLimits(request)).sharedLimits,
  };
}

/** The admin's part about incidents: failures, pace, a stop of everything. */
function incidentActions(
  options: AdminOptions,
): Pick<
  Admin,
  | "failures"
  | "redriveFailures"
  | "pace"
  | "statistics"
  | "summaries"
  | "stopState"
  | "stopAll"
  | "resumeAll"
> {
  const { store } = options;
  return {
    failures: (request) =>
      withKnownNames(store, request.definition ?? "", () => listFailures(options, request)),
    redriveFailures: (request) =>
      withKnownNames(store, request.definition, () => redriveFailures(options, request)),
    pace: async (name, read) => readPace(options, read ?? (await requireDefinition(store, name))),
    statistics: (request) =>
      withKnownNames(store, request.definition, () => readStatistics(options, request)),
    summaries: () => readSummaries(options),
    stopState: () => readStop(options),
    stopAll: (request) => stopAll(options, request),
    resumeAll: (request) => resumeAll(options, request),
  };
}

/** The admin's part about schedules. */
function scheduleActions(
  options: AdminOptions,
): Pick<Admin, "schedules" | "schedule" | "pauseSchedule" | "resumeSchedule" | "runSchedule"> {
  const { store } = options;
  const ofKnown = async <Result>(
    { definition }: { definition: string },
    body: () => Promise<Result>,
  ): Promise<Result> => {
    await requireDefinition(store, definition);
    return body();
  };
  return {
    schedules: (request) =>
      withKnownNames(store, request.name ?? "", () => listSchedules(options, request)),
    schedule: (request) =>
      ofKnown(request, async () => (await getSchedule(options, request)).found),
    pauseSchedule: (request) =>
      ofKnown(request, () => setSchedulePaused(options, { ...request, paused: true })),
    resumeSchedule: (request) =>
      ofKnown(request, () => setSchedulePaused(options, { ...request, paused: false })),
    runSchedule: (request) => ofKnown(request, () => runSchedule(options, request)),
  };
}

async function readStatus({ store, build }: AdminOptions): Promise<StatusReport> {
  const [definitions, sweep] = await Promise.all([
    listDefinitions(store),
    store.sweep({ max: sweepMax }),
  ]);
  const sum = (pick: (definition: DefinitionStatus) => number): number =>
    definitions.reduce((total, definition) => total + pick(definition), 0);
  return {
    dialect: store.dialect,
    build,
    totals: {
      definitions: definitions.length,
      paused: sum((definition) => (definition.paused ? 1 : 0)),
      executions: sum((definition) => definition.executions),
      held: sum((definition) => definition.held),
      ready: sum((definition) => definition.ready),
      scheduled: sum((definition) => definition.scheduled),
      waiting: sum((definition) => definition.waiting),
      claimed: sum((definition) => definition.claimed),
      running: sum((definition) => definition.running),
      prefetched: sum((definition) => definition.prefetched),
      dead: sum((definition) => definition.dead),
    },
    expired: sweep.expired,
    nextDueMs: sweep.nextDueMs,
    definitions,
  };
}

async function enqueue(
  options: AdminOptions,
  request: EnqueueRequest & Actor & { definition: string },
): Promise<EnqueueReport> {
  const { wakeUp, random, currentTraceParent, completeTasks } = options;
  const { definition, changedBy, operationId = asOperationId(random.uuid()) } = request;
  const current = currentTraceParent?.() ?? null;
  const traced = request.tasks.map((task) =>
    current === null ? task : { traceParent: current, ...task },
  );
  const { allowsUnknownKind } = request;
  const rows = await (completeTasks?.({ definition, allowsUnknownKind }, traced) ?? traced);
  const traceParent = rows[0]?.traceParent;
  const trace = traceParent === undefined ? {} : { traceParent };
  const hints: Promise<void>[] = [];
  let nextDueMs: number | null = null;
  const tasks = await enqueuePrepared(
    options,
    rows.map((task) => ({ definition, task })),
    {
      operationId,
      changedBy,
      onAdded: (_, answer) => {
        nextDueMs = answer.nextDueMs;
        if (answer.ready) hints.push(wakeUp.hint(definition, trace));
        if (answer.nextDueMs !== null)
          hints.push(wakeUp.hint(definition, { inMs: answer.nextDueMs, ...trace }));
      },
    },
  );
  await Promise.all(hints);
  const count = (wanted: string): number =>
    tasks.filter(({ outcome }) => outcome === wanted).length;
  return {
    definition,
    tasks: tasks.map(({ taskId: task, outcome }) => ({ task, outcome })),
    enqueued: count("enqueued"),
    replaced: count("replaced"),
    duplicates: count("duplicate"),
    nextDueMs,
  };
}

async function explain(store: TaskStore, taskId: TaskId): Promise<ExplainReport> {
  for (let read = 1; read <= explainReadsMax; read += 1) {
    const { status, facts } = await store.explainTask({ taskId });
    if (status === "unknown") throw unknownTask(taskId);
    if (status === "moving" || facts === null) continue;
    return { status: "found", reasons: explainTask(await completeFacts(store, facts)), facts };
  }
  const sentence = `Task ${taskId} is moving from one state to another at this instant: ask again.`;
  return { status: "moving", reasons: [{ code: "state", decides: true, sentence }], facts: null };
}

/** Adds what only other read models know: since when tokens are held, and how many attempts a dead task was allowed. */
async function completeFacts(
  store: TaskStore,
  facts: TaskFacts,
): Promise<Parameters<typeof explainTask>[0]> {
  if (facts.state === "dead") {
    const { definitions } = await store.listDefinitions({ name: facts.definition });
    const definition = definitions[0];
    if (definition === undefined) return facts;
    return { ...facts, retryAttempts: definition.retryAttempts, lostMax: definition.lostMax };
  }
  const holders = facts.holders ?? [];
  if (facts.state !== "ready" || holders.length === 0) return facts;
  const { executions } = await store.listExecutions({
    name: facts.definition,
    isOpen: true,
    max: 100,
  });
  const startedAt = new Map<string, string>(
    executions.map((execution) => [execution.execution, execution.startedAt]),
  );
  return {
    ...facts,
    holders: holders.map((holder) => {
      const since = startedAt.get(holder.execution);
      return since === undefined ? holder : { ...holder, startedAt: since };
    }),
  };
}

async function withKnownNames<Result>(
  store: TaskStore,
  name: string,
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof TaskgateError && error.code === "TASKGATE_ARG_UNKNOWN") {
      throw await unknownDefinition(store, name);
    }
    throw error;
  }
}

async function requireDefinition(store: TaskStore, name: string): Promise<DefinitionStatus> {
  const [definition] = (await store.listDefinitions({ name })).definitions;
  if (definition === undefined) throw await unknownDefinition(store, name);
  return definition;
}

async function unknownDefinition(store: TaskStore, name: string): Promise<TaskgateError> {
  const { definitions } = await store.listDefinitions({});
  const names = definitions.map((definition) => definition.name);
  const near = nearNames(name, names, 3);
  const listed = near.length > 0 ? near : names.slice(0, namesListedMax);
  const hint =
    names.length === 0
      ? "none is registered yet: a worker registers its definitions at its first run"
      : near.length > 0
        ? `did you mean ${quoteAll(listed)}?`
        : `there are ${quoteAll(listed)}${names.length > listed.length ? ` and ${String(names.length - listed.length)} more` : ""}`;
  const expected = `the name of a registered definition; ${hint}`;
  return invalidInput(
    [{ field: "definition", value: showValue(name), expected }],
    "TASKGATE_ARG_UNKNOWN",
  );
}

function unknownTask(taskId: TaskId): TaskgateError {
  const expected =
    "the id of a task that exists; finished tasks are removed when their definition's retention ends";
  return invalidInput(
    [{ field: "task", value: showValue(taskId), expected }],
    "TASKGATE_ARG_UNKNOWN",
  );
}

function quoteAll(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
