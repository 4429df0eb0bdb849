/*
 * What callers of a case do, as data: one procedure call, or one batch. Setups make everything in order, so ids are
 * known: definitions, executions, tasks and fences count from 1 each.
 */

export type ArgumentValue = string | number | bigint | null;

export interface ProcedureCall {
  readonly kind: "procedure";
  /** Without its schema. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, ArgumentValue>>;
}

/** A batch of statements: what a user's own transaction does around a call, or a request that no procedure has yet. */
export interface BatchCall {
  readonly kind: "batch";
  readonly sql: string;
  /** Procedures that the batch calls. */
  readonly calls: readonly string[];
  /** It rolls back what it did. */
  readonly isUndone?: true;
}

export type Call = ProcedureCall | BatchCall;

function call(name: string, values: Readonly<Record<string, ArgumentValue>>): ProcedureCall {
  return { kind: "procedure", name, arguments: values };
}

/** The number as a uuid. */
export function operationId(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

export interface Settings {
  readonly name?: string;
  readonly build?: number;
  readonly limit?: number;
  readonly retryAttempts?: number;
  readonly lostMax?: number;
  /** 0 unless said: as many claims as tokens. */
  readonly prefetchMax?: number;
  readonly groupSlots?: number;
  readonly groupStrict?: boolean;
  readonly retainDoneMs?: number;
  readonly rate?: { readonly count: number; readonly periodMs: number; readonly burst: number };
  readonly shared?: readonly { readonly name: string; readonly limit?: number }[];
}

/** Length of a lease; the clock of a setup is moved by this and one more to let it end. */
export const leaseMs = 60_000;

export function register(settings: Settings = {}): ProcedureCall {
  const build = settings.build ?? 1;
  return call("RegisterDefinition", {
    Name: settings.name ?? "a",
    Build: build,
    SettingsHash: `settings ${String(build)}`,
    RegisteredBy: "deployment",
    Limit: settings.limit ?? 4,
    LeaseMs: leaseMs,
    RetryAttempts: settings.retryAttempts ?? 5,
    LostMax: settings.lostMax ?? 3,
    RetryBaseMs: 1_000,
    RetryCapMs: 300_000,
    PrefetchMax: settings.prefetchMax ?? 0,
    GroupSlots: settings.groupSlots ?? 1,
    GroupStrict: settings.groupStrict === true ? 1 : 0,
    RetainDoneMs: settings.retainDoneMs ?? 604_800_000,
    RetainDeadMs: 2_592_000_000,
    ...(settings.rate === undefined
      ? {}
      : {
          RateCount: settings.rate.count,
          RatePeriodMs: settings.rate.periodMs,
          RateBurst: settings.rate.burst,
        }),
    ...(settings.shared === undefined ? {} : { SharedLimits: JSON.stringify(settings.shared) }),
  });
}

/** So many tasks per day, one at once; -1: no rate; null: the code's. */
export function setRate(count: number | null): ProcedureCall {
  return call("SetRate", {
    Name: "a",
    Count: count,
    PeriodMs: count === -1 || count === null ? null : 86_400_000,
    Burst: count === -1 || count === null ? null : 1,
    ChangedBy: "operator",
  });
}

/** An app with an address, if it is given one. */
export function registerApp(
  app: string,
  definitions: readonly string[],
  queue?: string,
): ProcedureCall {
  return call("RegisterApp", {
    App: app,
    Definitions: JSON.stringify(definitions),
    Address: queue === undefined ? null : JSON.stringify({ queue }),
  });
}

/** Hands definition a over; null: to no app. */
export function setOwner(app: string | null): ProcedureCall {
  return call("SetDefinitionOwner", { Name: "a", App: app, ChangedBy: "operator" });
}

export function setSharedLimit(name: string, limit: number, operation: number): ProcedureCall {
  return call("SetSharedLimit", {
    Name: name,
    Limit: limit,
    OperationId: operationId(operation),
    ChangedBy: "operator",
  });
}

/** With `expected` only over that limit. */
export function setLimit(
  limit: number | null,
  operation: number,
  expected?: number,
): ProcedureCall {
  return call("SetLimit", {
    Name: "a",
    Limit: limit,
    OperationId: operationId(operation),
    ChangedBy: "operator",
    ...(expected === undefined ? {} : { ExpectedLimit: expected }),
  });
}

export const pause = call("PauseDefinition", { Name: "a", ChangedBy: "operator" });

/** Pauses definition a where it goes on. */
export const pauseIfOpen = call("PauseDefinition", {
  Name: "a",
  ChangedBy: "operator",
  ExpectedPaused: 0,
});

/** Definition a is paused as a part of a stop of everything. */
export const stopDefinition = call("PauseDefinition", {
  Name: "a",
  ChangedBy: "operator",
  IsStop: 1,
});
export const resume = call("ResumeDefinition", { Name: "a", ChangedBy: "operator" });

/** The operation is named by a number, its process, too: two starts with one number are one start, repeated. */
export function start(
  operation: number,
  want: number,
  more: { name?: string; needsReady?: boolean; worker?: number } = {},
): ProcedureCall {
  return call("StartExecution", {
    Name: more.name ?? "a",
    OperationId: operationId(operation),
    Worker: `worker ${String(more.worker ?? operation)}`,
    Build: 1,
    SettingsHash: null,
    Want: want,
    NeedsReady: more.needsReady === true ? 1 : 0,
  });
}

export function acquire(execution: number, want: number): ProcedureCall {
  return call("AcquireTokens", { TaskExecutionId: execution, Want: want });
}

export function release(execution: number, keep: number): ProcedureCall {
  return call("ReleaseTokens", { TaskExecutionId: execution, Keep: keep });
}

export function releaseSurplus(execution: number, keep: number): ProcedureCall {
  return call("ReleaseSurplus", { TaskExecutionId: execution, Keep: keep });
}

export interface Done {
  readonly task: number;
  readonly fence: number;
}

export interface Work {
  readonly execution: number;
  readonly call: number;
  readonly want?: number;
  readonly done?: readonly Done[];
  readonly started?: readonly number[];
  readonly after?: { readonly priority: number; readonly rank: number; readonly task: number };
}

export function work({ execution, call: number, want, done, started, after }: Work): ProcedureCall {
  const list = (values: readonly number[] | undefined): string | null =>
    values === undefined ? null : JSON.stringify(values.map(String));
  return call("Work", {
    TaskExecutionId: execution,
    CallNumber: number,
    DoneTaskIds: list(done?.map((one) => one.task)),
    DoneFences: list(done?.map((one) => one.fence)),
    StartedTaskIds: list(started),
    Want: want ?? 0,
    AfterPriority: after?.priority ?? null,
    AfterRank: after?.rank ?? null,
    AfterTaskId: after?.task ?? null,
  });
}

export function complete(execution: number, done: Done): ProcedureCall {
  return call("CompleteTask", {
    TaskExecutionId: execution,
    TaskId: done.task,
    Fence: done.fence,
    Result: '{"ok":true}',
  });
}

export interface Failed extends Done {
  readonly as?: "failed" | "dead" | "cancelled" | "continued";
  readonly retryInMs?: number;
}

export function fail(execution: number, ...failures: readonly Failed[]): ProcedureCall {
  const list = failures.map(({ task, fence, as = "failed", retryInMs = 0 }) => ({
    task: String(task),
    fence: String(fence),
    as,
    error: "it failed",
    retryInMs,
  }));
  return call("FailTasks", { TaskExecutionId: execution, Failures: JSON.stringify(list) });
}

export function heartbeat(...executions: readonly number[]): ProcedureCall {
  const list = executions.map((execution) => ({ execution: String(execution), started: [] }));
  return call("Heartbeat", { Executions: JSON.stringify(list) });
}

/** A heartbeat that also tells which prefetched claims were started. */
export function heartbeatStarted(execution: number, task: number): ProcedureCall {
  const list = [{ execution: String(execution), started: [String(task)] }];
  return call("Heartbeat", { Executions: JSON.stringify(list) });
}

export function progress(execution: number, done: Done): ProcedureCall {
  return call("ReportProgress", {
    TaskExecutionId: execution,
    TaskId: done.task,
    Fence: done.fence,
    Done: 1,
    Total: 2,
    Text: "half",
  });
}

export function finish(execution: number): ProcedureCall {
  return call("FinishExecution", { TaskExecutionId: execution });
}

export const reclaim = call("ReclaimExpired", { Max: 10 });
export const sweep = call("Sweep", { Max: 10 });
export const readFreeTokens = call("ReadFreeTokens", { Name: "a", SinceFence: null });
export function rollUp(max: number): ProcedureCall {
  return call("RollUpStatistics", { Max: max });
}

export function purge(max: number): ProcedureCall {
  return call("Purge", { Max: max });
}

export const promote = call("PromoteScheduled", { Name: "a", Max: 10 });

export interface NewTask {
  readonly priority?: number;
  readonly group?: string;
  readonly groupScope?: "global";
  readonly runInMs?: number;
  readonly dedupeKey?: string;
  readonly dedupeMs?: number;
  readonly onDuplicate?: "replace";
  readonly payload?: string;
}

export interface Enqueue {
  readonly name?: string;
  readonly operation?: number;
  readonly joinsTransaction?: boolean;
  readonly wave?: number;
}

export function enqueue(tasks: readonly NewTask[], more: Enqueue = {}): ProcedureCall {
  return call("EnqueueTasks", {
    Name: more.name ?? "a",
    Build: 1,
    Tasks: JSON.stringify(tasks),
    OperationId: more.operation === undefined ? null : operationId(more.operation),
    JoinsTransaction: more.joinsTransaction === true ? 1 : 0,
    ...(more.wave === undefined ? {} : { WaveId: more.wave }),
  });
}

export interface Advance {
  readonly watermark?: string;
  readonly operation?: number;
}

/** Moves a watermark of definition a on from that version, with these blocks. */
export function advance(
  expectedVersion: number,
  blocks: readonly NewTask[],
  more: Advance = {},
): ProcedureCall {
  return call("AdvanceWatermark", {
    Name: "a",
    Watermark: more.watermark ?? "mark",
    ExpectedVersion: expectedVersion,
    Value: `[${String(expectedVersion + 1)}]`,
    Build: 1,
    Tasks: JSON.stringify(blocks),
    OperationId: more.operation === undefined ? null : operationId(more.operation),
  });
}

/** An operator sets it, at any version. */
export function setWatermark(operation: number): ProcedureCall {
  return call("SetWatermark", {
    Name: "a",
    Watermark: "mark",
    Value: "[0]",
    ExpectedVersion: null,
    OperationId: operationId(operation),
    ChangedBy: "operator",
  });
}

export const listWatermarks = call("ListWatermarks", { Name: null, Watermark: null, Max: 10 });

/** The operation is named by a number. Waves count on from those of earlier batches. */
export function createBatch(operation: number, waves: number): ProcedureCall {
  return call("CreateBatch", {
    OperationId: operationId(operation),
    Name: "a batch",
    FailurePolicy: "halt",
    Waves: waves,
  });
}

export function startBatch(batch: number, more: { seal?: boolean } = {}): ProcedureCall {
  return call("StartBatch", { BatchId: batch, Seal: more.seal === false ? 0 : 1 });
}

export function pumpBatch(batch: number, max: number): ProcedureCall {
  return call("PumpBatch", { BatchId: batch, Max: max });
}

export function resumeBatch(batch: number): ProcedureCall {
  return call("ResumeBatch", { BatchId: batch });
}

export function cancelBatch(batch: number): ProcedureCall {
  return call("CancelBatch", { BatchId: batch });
}

/** As many tasks without anything special. */
export function plainTasks(count: number): NewTask[] {
  return Array.from({ length: count }, () => ({}));
}

export function explain(task: number): ProcedureCall {
  return call("ExplainTask", { TaskId: task });
}

export const listDefinitions = call("ListDefinitions", { Name: null });
export const listExecutions = call("ListExecutions", { Name: null, IsOpen: 1, Max: 10 });
export const listAudit = call("ListAudit", {
  Object: null,
  Action: null,
  ChangedBy: null,
  Since: null,
  Before: null,
  Max: 10,
});
export const listFailures = call("ListFailures", { Name: null, Max: 10 });
export const listStopped = call("ListStopped", { Max: 10 });

/** Says that a stop of everything is on, or that it has ended. */
export function setStop(isOn: boolean): ProcedureCall {
  return call("SetStop", { IsOn: Number(isOn), ChangedBy: "operator", Reason: "moved" });
}
export const readPace = call("ReadPace", { Name: "a", Max: 10 });
export const readStatistics = call("ReadStatistics", { Name: null, Grain: 10, Max: 10 });
export const listBatches = call("ListBatches", { BatchId: null, Before: null, Max: 10 });
export const checkInvariants = call("CheckInvariants", {});

export function listTasks(state: string): ProcedureCall {
  return call("ListTasks", { Name: "a", State: state, Max: 10 });
}

/** Looks at all, by every filter. */
export function searchTasks(state: string): ProcedureCall {
  const filter = { KeyPrefix: "a", GroupKey: "g", BatchId: 1, Path: "a", Value: "1" };
  return call("ListTasks", { Name: "a", State: state, Max: 10, ...filter });
}

/** Looks at the payloads alone. */
export function searchPayloads(state: string): ProcedureCall {
  return call("ListTasks", { Name: "a", State: state, Max: 10, Path: "a", Value: "1" });
}

export const readLog: BatchCall = {
  kind: "batch",
  calls: [],
  sql: `SET DEADLOCK_PRIORITY LOW;
SELECT l.TaskId, l.Outcome FROM Taskgate.vExecutionLog AS l ORDER BY l.TaskId, l.Fence;`,
};

/** A request to cancel alone: what CancelTasks leaves at a task that runs, without its locks. */
export function requestCancel(task: number): BatchCall {
  return {
    kind: "batch",
    calls: [],
    sql: `UPDATE Taskgate.Task SET CancelRequested = 1 WHERE TaskId = ${String(task)};`,
  };
}

/** Puts the tokens of all definitions into the strings that they were in before they became rows. */
export const tokensOfBefore: BatchCall = {
  kind: "batch",
  calls: [],
  sql: `UPDATE d
SET ExecutionTokens = x.Tokens
FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition))
CROSS APPLY (
  SELECT STRING_AGG(CONVERT(nvarchar(max), N'I:' + CONVERT(nchar(36), t.TokenId) + N',S:' + CASE t.IsHeld WHEN 1 THEN N'0' ELSE N'1' END
           + N',G:' + CONVERT(nvarchar(20), t.Grantee)), N',') WITHIN GROUP (ORDER BY t.Ord) AS Tokens
  FROM Taskgate._TokenEntries(d.TaskDefinitionId, d.ExecutionTokens, d.TokenList) AS t) AS x;
DELETE FROM t FROM Taskgate.Token AS t WITH (INDEX (PK_Token));`,
};

export function cancel(...tasks: readonly number[]): ProcedureCall {
  return call("CancelTasks", { TaskIds: JSON.stringify(tasks.map(String)), Reason: "not needed" });
}

export function redrive(...tasks: readonly number[]): ProcedureCall {
  return call("RedriveTasks", { TaskIds: JSON.stringify(tasks.map(String)) });
}

export function reschedule(runInMs: number, ...tasks: readonly number[]): ProcedureCall {
  const TaskIds = JSON.stringify(tasks.map(String));
  return call("RescheduleTasks", { TaskIds, RunInMs: runInMs, RunAt: null });
}

export function setGroup(
  key: string,
  changes: { readonly slots?: number; readonly paused?: boolean },
): ProcedureCall {
  return call("SetGroup", {
    Name: "a",
    GroupKey: key,
    GroupScope: null,
    Slots: changes.slots ?? null,
    Paused: changes.paused === undefined ? null : Number(changes.paused),
    Strict: null,
    ChangedBy: "operator",
  });
}

export const listGroups = call("ListGroups", { Name: null, GroupKey: null, Max: 10 });

export const listApps = call("ListApps", {});

export const listSharedLimits = call("ListSharedLimits", { Name: null, Max: 10 });

/** An instant so many milliseconds after a setup's clock begins, as ISO-8601. */
export function instantIn(ms: number): string {
  return new Date(Date.UTC(2026, 0, 1, 12) + ms).toISOString();
}

export interface NewSchedule {
  readonly name?: string;
  readonly cron?: string;
  readonly group?: string;
  /** After the setup's clock begins; default 10. */
  readonly nextInMs?: number;
}

/** All schedules of definition a; ids count from 1. */
export function setSchedules(
  schedules: readonly NewSchedule[],
  more: { build?: number } = {},
): ProcedureCall {
  const list = schedules.map(({ name = "s", cron = "* * * * *", group, nextInMs = 10 }) => ({
    name,
    kind: "a",
    cron,
    timeZone: "UTC",
    missed: "once",
    payload: '{"a":1}',
    group: group ?? null,
    nextRunAt: instantIn(nextInMs),
  }));
  return call("SetSchedules", {
    Name: "a",
    Build: more.build ?? 1,
    Schedules: JSON.stringify(list),
    ChangedBy: "deployment",
  });
}

/** Schedule 1, whose next instant was seen so many milliseconds after the clock's beginning; on by a minute. */
export function fireSchedule(expectedInMs = 10): ProcedureCall {
  return call("FireSchedule", {
    ScheduleId: 1,
    ExpectedRunAt: instantIn(expectedInMs),
    RunAts: JSON.stringify([instantIn(expectedInMs)]),
    NextRunAt: instantIn(expectedInMs + 60_000),
  });
}

export function setSchedulePaused(paused: boolean): ProcedureCall {
  return call("SetSchedulePaused", {
    Name: "a",
    Schedule: "s",
    Paused: Number(paused),
    NextRunAt: paused ? null : instantIn(60_010),
    ChangedBy: "operator",
  });
}

/** Schedule s of definition a is paused as a part of a stop of everything. */
export const stopSchedule = call("SetSchedulePaused", {
  Name: "a",
  Schedule: "s",
  Paused: 1,
  NextRunAt: null,
  ChangedBy: "operator",
  IsStop: 1,
});

export const listSchedules = call("ListSchedules", { Name: null, Max: 10 });

/** A call as it is written in T-SQL. */
export function textOf(one: Call): string {
  if (one.kind === "batch") return one.sql;
  const values = Object.entries(one.arguments).map(
    ([name, value]) => `@${name} = ${literalOf(value)}`,
  );
  return `EXEC Taskgate.${one.name}${values.length > 0 ? " " : ""}${values.join(", ")};`;
}

function literalOf(value: ArgumentValue): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return `N'${value.replaceAll("'", "''")}'`;
  return String(value);
}

/** The calls in one transaction of the user's own. */
export function together(...calls: readonly Call[]): BatchCall {
  return {
    kind: "batch",
    calls: calls.flatMap(namesOf),
    sql: ["SET XACT_ABORT ON;", "BEGIN TRANSACTION;", ...calls.map(textOf), "COMMIT;"].join("\n"),
  };
}

/** The calls in a transaction that the user rolls back. */
export function undone(...calls: readonly Call[]): BatchCall {
  return {
    kind: "batch",
    calls: calls.flatMap(namesOf),
    sql: ["BEGIN TRANSACTION;", ...calls.map(textOf), "ROLLBACK;"].join("\n"),
    isUndone: true,
  };
}

/** Procedures that a call names. */
export function namesOf(one: Call): readonly string[] {
  return one.kind === "procedure" ? [one.name] : one.calls;
}
