import type { PreparedTask } from "../../enqueue/enqueue-prepared";
import type { BatchId, ExecutionId, TaskId } from "../../core/ids";
import { Cancelled } from "../../core/task-failure";
import type { ClaimedTask, DoneTask, Failure } from "../../ports/task-store";
import type { RunningCount } from "../../core/running-count";
import type { TelemetrySpan } from "../../ports/telemetry";
import type { WorkerEnvironment } from "../environment";
import { LeaseLostError } from "../../core/errors";
import { limits } from "../../core/limits";
import { messageOf } from "../../core/foreign-value";
import type { Registry } from "../define/registry";
import type { TaskOutcome } from "./outcome";
import { runTask } from "./run-task";
import { returnInMs } from "./store-trouble";
import { StopSignal } from "./stop-signal";
import { TimeLimits } from "./time-limit";
import type { TimedOut } from "./time-limit";
import {
  completeInTransaction,
  enqueueTogether,
  isFenced,
  wholeDuration,
} from "../client/transactions";
import type { HeldTask } from "../client/transactions";

/** What became of one task; at most one of the first three says something. */
export interface EndedTask {
  readonly done: DoneTask | null;
  readonly failure: Failure | null;
  readonly isLost: boolean;
  readonly woken: readonly string[];
  /** Batches with more tasks to admit. */
  readonly opening: readonly BatchId[];
  readonly durationMs: number;
}

/** Why handlers are told to stop. */
export type AbortReason = "stopped" | "deadline" | "lost" | "failed";

/** What all runs of one execution share. */
export interface RunningTasksOptions {
  readonly environment: WorkerEnvironment;
  readonly executionId: ExecutionId;
  readonly registry: Registry;
  readonly definition: string;
  readonly timeLeftMs: () => number;
  /** A handler runs on after its time-out and the grace. */
  readonly onStuck: () => void;
  readonly leaseMs: number;
  /** For the lease: every handler that runs. */
  readonly count: RunningCount;
}

/** The handlers that run just now, each with its own signal. */
export class RunningTasks {
  readonly #options: RunningTasksOptions;
  /** Of each run, which has a token: a database that lost commits may give a task a second time while its first run goes on. */
  readonly #stops = new Set<StopSignal>();
  /** Of each task's last run. */
  readonly #newest = new Map<TaskId, StopSignal>();
  readonly #timeLimits: TimeLimits;
  #abortReason: AbortReason | null = null;

  constructor(options: RunningTasksOptions) {
    this.#options = options;
    this.#timeLimits = new TimeLimits(options);
  }

  get size(): number {
    return this.#stops.size;
  }

  /** Of them, those that ran on after their time-out: they may never settle. */
  get stuckSize(): number {
    return this.#timeLimits.stuckSize;
  }

  /** What the database is to be told of those. */
  stuckFailures(): Failure[] {
    return this.#timeLimits.stuckFailures();
  }

  /** No time-out is looked after any more. */
  close(): void {
    this.#timeLimits.close();
  }

  /** Runs one task; resolves when its handler has settled. Never throws. */
  start(task: ClaimedTask): Promise<EndedTask> {
    const stop = new StopSignal();
    // Of that one the database knows no claim any more: its end is refused, and that of no other task.
    this.#newest
      .get(task.taskId)
      ?.abort(
        new Error("stop soon: the database has forgotten this claim and given the task again"),
      );
    this.#newest.set(task.taskId, stop);
    this.#stops.add(stop);
    this.#options.count.begin();
    return this.#options.environment.telemetry.span(
      {
        name: `task ${task.kind}`,
        traceParent: task.traceParent,
        attributes: {
          taskId: task.taskId,
          definition: this.#options.definition,
          attempt: task.attempt,
        },
      },
      (span) => this.#run(task, stop, span),
    );
  }

  async #run(task: ClaimedTask, stop: StopSignal, span: TelemetrySpan): Promise<EndedTask> {
    const { environment, registry, definition, executionId, timeLeftMs, leaseMs } = this.#options;
    const startedAtMs = environment.clock.monotonicMs();
    const held: HeldTask = { executionId, task, startedAtMs, leaseMs };
    const kind = registry.kind(task.kind);
    this.#timeLimits.begin(held, stop, kind?.timeoutMs ?? null);
    try {
      const run = { environment, held, kind, registry, definition, stop, timeLeftMs };
      const outcome = timedOut(await runTask(run), this.#timeLimits.end(task));
      const durationMs = environment.clock.monotonicMs() - held.startedAtMs;
      environment.telemetry.record("taskgate.task.duration", durationMs, {
        kind: kind?.kind ?? task.kind,
      });
      // Nothing is waited for where there are no children: most tasks have none.
      const writing = this.#writeChildren(outcome, held, durationMs);
      const written = writing === null ? null : await writing;
      const end = written ?? this.#toEnd(outcome, held, durationMs);
      noteEnd(span, end);
      return end;
    } finally {
      this.#timeLimits.end(task);
      this.#stops.delete(stop);
      this.#options.count.end();
      if (this.#newest.get(task.taskId) === stop) this.#newest.delete(task.taskId);
    }
  }

  #toEnd(outcome: LimitedOutcome, held: HeldTask, durationMs: number): EndedTask {
    const { taskId, fence } = held.task;
    const wholeMs = wholeDuration(durationMs);
    if (outcome.kind === "done")
      return ended(durationMs, { taskId, fence, durationMs: wholeMs, result: outcome.result });
    if (outcome.kind === "lost") return { ...ended(durationMs), isLost: true };
    if (outcome.kind === "completed") {
      this.#countDone();
      return { ...ended(durationMs), woken: outcome.woken, opening: outcome.opening };
    }
    // A handler that threw because of the deadline's or the process' signal hasn't failed: it goes on elsewhere, as often as its share allows.
    const isInterrupted =
      !outcome.isTimeout &&
      outcome.failure.as === "failed" &&
      (this.#abortReason === "deadline" || this.#abortReason === "stopped");
    const failure = isInterrupted
      ? {
          ...outcome.failure,
          as: "continued" as const,
          retryInMs: 0,
          share: limits.returnShares[this.#abortReason === "deadline" ? "deadline" : "stopped"],
        }
      : outcome.failure;
    return {
      ...ended(durationMs),
      failure: { taskId, fence, durationMs: wholeMs, ...failure },
    };
  }

  /** null: there are none; resolves with null: they are written, and the outcome is still to be. */
  #writeChildren(
    outcome: LimitedOutcome,
    held: HeldTask,
    durationMs: number,
  ): Promise<EndedTask | null> | null {
    if (outcome.kind === "done" && outcome.children.length > 0)
      return this.#completeWithChildren(outcome, held, durationMs);
    if (outcome.kind === "failed" && outcome.children !== undefined && outcome.children.length > 0)
      return this.#addBeforeCheckpoint(outcome.children, held, durationMs);
    return null;
  }

  /** A process that dies between the two adds them again: the part runs again. So does another worker that holds the task by now. */
  async #addBeforeCheckpoint(
    children: readonly PreparedTask[],
    held: HeldTask,
    durationMs: number,
  ): Promise<EndedTask | null> {
    if (this.#abortReason === "lost") return { ...ended(durationMs), isLost: true };
    try {
      await enqueueTogether(this.#options.environment, children, held);
      return null;
    } catch (error) {
      return this.#notAdded(error, held, durationMs);
    }
  }

  async #completeWithChildren(
    outcome: { result: string | null; children: readonly PreparedTask[] },
    held: HeldTask,
    durationMs: number,
  ): Promise<EndedTask> {
    try {
      const { woken, opening } = await completeInTransaction(this.#options.environment, held, {
        children: outcome.children,
        body: () => Promise.resolve(outcome.result),
        toResult: (result) => result,
      });
      this.#countDone();
      return { ...ended(durationMs), woken, opening };
    } catch (error) {
      if (isFenced(error)) return { ...ended(durationMs), isLost: true };
      return this.#notAdded(error, held, durationMs);
    }
  }

  #notAdded(error: unknown, { task: { taskId, fence } }: HeldTask, durationMs: number): EndedTask {
    const inMs = returnInMs(this.#options.environment.store, taskId, error);
    return {
      ...ended(durationMs),
      failure: {
        taskId,
        fence,
        durationMs: wholeDuration(durationMs),
        as: inMs === null ? "failed" : "continued",
        error: `its tasks could not be added: ${messageOf(error)}`,
        retryInMs: inMs,
        ...(inMs === null ? {} : { share: limits.returnShares.storeTrouble }),
        checkpoint: null,
      },
    };
  }

  /** Of those that complete in a transaction of their own; the loop counts those that its calls carry. */
  #countDone(): void {
    const { environment, definition } = this.#options;
    environment.telemetry.count("taskgate.task.done", 1, { definition });
  }

  /** A cancel request arrived. */
  cancel(taskId: TaskId): void {
    this.#newest.get(taskId)?.abort(new Cancelled());
  }

  /** Tells all handlers to stop. */
  abortAll(reason: AbortReason): void {
    this.#abortReason ??= reason;
    for (const stop of this.#stops) {
      stop.abort(
        reason === "lost"
          ? new LeaseLostError("the lease is lost: stop, write nothing")
          : new Error(`stop soon: ${reason}`),
      );
    }
  }
}

type LimitedOutcome = TaskOutcome & { isTimeout?: boolean };

/** A failure after the time-out is the time-out's, and counts as one although the process ends just then. */
function timedOut(outcome: TaskOutcome, timeout: TimedOut | null): LimitedOutcome {
  if (timeout === null || outcome.kind !== "failed" || outcome.failure.as !== "failed")
    return outcome;
  const error = `${timeout.message}: ${outcome.failure.error ?? "no reason was given"}`;
  return { kind: "failed", failure: { ...outcome.failure, error }, isTimeout: true };
}

const noNames: readonly string[] = [];
const noBatches: readonly BatchId[] = [];

function ended(durationMs: number, done: DoneTask | null = null): EndedTask {
  return { done, failure: null, isLost: false, woken: noNames, opening: noBatches, durationMs };
}

/** What the store will be told; it may still refuse. */
function noteEnd(span: TelemetrySpan, ended: EndedTask): void {
  const end = ended.isLost ? "lost" : (ended.failure?.as ?? "done");
  span.set({ end });
  if (end === "failed" || end === "dead" || end === "lost") span.fail();
}
