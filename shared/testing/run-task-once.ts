import { RunningCount } from "../core/running-count";
import { checkNames } from "../core/known-names";
import { Cancelled } from "../core/task-failure";
import { asExecutionId, asFence, asTaskId } from "../core/ids";
import type { JsonArray, JsonObject, JsonValue } from "../core/json";
import { realClock } from "../platform/real-clock";
import type { ClaimedTask } from "../ports/task-store";
import { noTelemetry } from "../ports/telemetry";
import type { WorkerEnvironment } from "../worker/environment";
import { prepareTask } from "../worker/client/new-task";
import { createRegistry } from "../worker/define/registry";
import type { EndedTask } from "../worker/run/running-tasks";
import { RunningTasks } from "../worker/run/running-tasks";
import { toRequest } from "../worker/define/task-ref";
import type { TaskContext } from "../worker/define/task-context";
import { checkRun } from "./check-options";
import { parseContainer } from "./parse-container";
import type { EnqueuedTask } from "./enqueued-task";
import { ownTimers } from "./own-timers";
import { createRecordingLogger } from "./recording-logger";
import type { LogLine } from "./recording-logger";
import { RecordingStore } from "./recording-store";
import { createSeededRandom } from "./seeded-random";
import type { SqlFake, SqlStatement } from "./sql-fake";
import type { TaskKind } from "../worker/define/task-kind";

/** What the handler finds. */
export interface RunOnceOptions<Payload> {
  payload?: Payload;
  /** `ctx.attempt`; default 1. */
  attempt?: number;
  /** `ctx.restored`: what an earlier part left with `ctx.checkpoint`. */
  restored?: JsonValue;
  /** What `ctx.timeLeftMs()` answers; default 60,000. */
  timeLeftMs?: number;
  /** Answers statements inside `ctx.completeWith`; without it they throw. */
  sql?: SqlFake;
  /** Aborts `ctx.signal` with this reason, `afterMs` (default 0: before the handler starts). `lost` also refuses how it ends: `end` is `lost`. */
  interrupt?: { as: "deadline" | "stopped" | "lost" | "cancelled"; afterMs?: number };
}

const optionNames = [
  "payload",
  "attempt",
  "restored",
  "timeLeftMs",
  "sql",
  "interrupt",
] as const satisfies readonly (keyof RunOnceOptions<unknown>)[];

/** How the database would be told that the task ended. */
export type TaskEnd =
  | { readonly kind: "done"; readonly result: JsonObject | JsonArray | null }
  /** Counted; tried again after `retryInMs` (null: the definition's back-off) while attempts are left. */
  | { readonly kind: "failed"; readonly error: string; readonly retryInMs: number | null }
  | { readonly kind: "dead" | "cancelled"; readonly error: string }
  /** Comes back uncounted, after a checkpoint or an interruption. */
  | { readonly kind: "continued"; readonly state: JsonValue; readonly afterMs: number }
  /** Another worker holds it: neither its end nor the writes beside it were taken. */
  | { readonly kind: "lost" };

/** Everything that one run left behind. */
export interface TaskRun {
  readonly end: TaskEnd;
  /** What the handler threw; undefined: nothing. */
  readonly thrown: unknown;
  /**
   * Written tasks: with the completion, or at once with `{ now: true }`. Those of a failed run are forgotten. A run whose
   * tasks every store would refuse is one; kinds and waves may be unknown here.
   */
  readonly enqueued: readonly EnqueuedTask[];
  /** Every report, also those that are too frequent to be sent. */
  readonly progress: readonly { done?: number; total?: number; text?: string }[];
  readonly statements: readonly SqlStatement[];
  readonly log: readonly LogLine[];
}

/**
 * Runs a kind's handler once, as a worker does: the payload travels as JSON and is checked by the schema, and the context is
 * the shipped one. The shipped rules judge the handler's result or error. No database, no queue, real time.
 * Never rejects for what the handler does; throws InvalidArgumentError for a payload that couldn't be enqueued, and for an option that is unknown or has a value that there can't be.
 */
export async function runTaskOnce<Input, Output>(
  kind: TaskKind<Input, unknown, Output>,
  options: RunOnceOptions<Input> = {},
): Promise<TaskRun> {
  checkNames("runTaskOnce", options, optionNames);
  checkRun(options);
  const task = claimedTask(kind, options);
  const lines: LogLine[] = [];
  const isLost = options.interrupt?.as === "lost";
  const store = new RecordingStore({
    clock: { now: () => realClock.nowMs() },
    random: createSeededRandom(1),
    isLost,
    ...(options.sql === undefined ? {} : { sql: options.sql }),
  });
  const environment: WorkerEnvironment = {
    store,
    clock: realClock,
    timers: ownTimers,
    random: createSeededRandom(2),
    logger: createRecordingLogger(lines),
    telemetry: noTelemetry,
    wakeUp: { hint: () => Promise.resolve() },
    workerName: "test",
    build: 1,
  };
  const observed = observe(kind);
  const running = new RunningTasks({
    environment,
    executionId: asExecutionId("1"),
    // The only kind here; its children may be of others of its definition.
    registry: createRegistry([
      {
        ...observed.kind,
        definition: { ...kind.definition, onUnknownKind: "keep" },
      },
    ]),
    definition: kind.definition.name,
    timeLeftMs: () => options.timeLeftMs ?? 60_000,
    // One run, in the hands of the test: a handler that never ends is the test's own time-out.
    onStuck: () => undefined,
    leaseMs: kind.definition.settings.leaseMs,
    count: new RunningCount(),
  });
  const ending = running.start(task);
  const cancelTimer = interrupt(running, task, options.interrupt);
  const ended = await ending;
  cancelTimer();
  return {
    // Whatever a worker would tell the database about a lost task is refused.
    end: isLost ? { kind: "lost" } : describeEnd(ended, store.transactionResult),
    thrown: observed.thrown(),
    enqueued: store.enqueued,
    progress: observed.progress,
    statements: store.statements,
    log: lines,
  };
}

function claimedTask<Input, Output>(
  kind: TaskKind<Input, unknown, Output>,
  options: RunOnceOptions<Input>,
): ClaimedTask {
  const payload = (options.payload ?? null) as JsonObject | JsonArray | null;
  // Without its schema: a task that came by SQL or from an older build meets it in the worker.
  const { task } = prepareTask(toRequest({ task: kind, payload, options: undefined }), null);
  return {
    taskId: asTaskId("1"),
    fence: asFence("1"),
    kind: kind.rules.kind,
    attempt: options.attempt ?? 1,
    payload: parseContainer(task.payload),
    checkpoint: options.restored === undefined ? null : JSON.stringify(options.restored),
    traceParent: null,
    isGrouped: task.group != null,
    isCancelRequested: false,
    isFromNewerBuild: false,
    isSuspect: false,
    isInWave: false,
    isPrefetched: false,
  };
}

/** The same kind; what its handler throws and reports is kept. */
function observe<Input, Output>(kind: TaskKind<Input, unknown, Output>) {
  let thrown: unknown;
  const progress: { done?: number; total?: number; text?: string }[] = [];
  const observed: typeof kind = {
    ...kind,
    run: async (payload, context) => {
      try {
        const heard: TaskContext["progress"] = (report) => void progress.push(report);
        const listened = Object.create(context, { progress: { value: heard } }) as TaskContext;
        return await kind.run(payload, listened);
      } catch (error) {
        thrown = error;
        throw error;
      }
    },
  };
  return { progress, thrown: () => thrown, kind: observed };
}

function interrupt(
  running: RunningTasks,
  task: ClaimedTask,
  options: RunOnceOptions<unknown>["interrupt"],
): () => void {
  if (options === undefined) return () => undefined;
  const { as, afterMs = 0 } = options;
  const now = (): void => {
    if (as === "cancelled") running.cancel(task.taskId);
    else running.abortAll(as);
  };
  if (afterMs > 0) return ownTimers.after(afterMs, now);
  now();
  return () => undefined;
}

function describeEnd(ended: EndedTask, transactionResult: string | null): TaskEnd {
  if (ended.isLost) return { kind: "lost" };
  const { failure } = ended;
  if (failure === null) {
    const result = ended.done === null ? transactionResult : ended.done.result;
    return { kind: "done", result: parseContainer(result) };
  }
  const error = failure.error ?? new Cancelled().message;
  if (failure.as === "failed") return { kind: "failed", error, retryInMs: failure.retryInMs };
  if (failure.as === "continued") {
    const state =
      failure.checkpoint === null ? null : (JSON.parse(failure.checkpoint) as JsonValue);
    return { kind: "continued", state, afterMs: failure.retryInMs ?? 0 };
  }
  return { kind: failure.as, error };
}
