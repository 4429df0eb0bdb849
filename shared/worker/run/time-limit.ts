import { limits } from "../../core/limits";
import type { ClaimedTask, Failure } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";
import { EarliestTimer } from "./earliest-timer";
import { ending } from "./outcome";
import type { StopSignal } from "./stop-signal";
import type { HeldTask } from "../client/transactions";

/** Why a handler's signal was aborted when its time was over. */
export class TimedOut extends Error {
  /** Milliseconds that the kind allows. */
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`timed out after ${String(timeoutMs)} ms`);
    this.name = "TimedOut";
    this.timeoutMs = timeoutMs;
  }
}

/** A timer that comes later than this waited for a handler that blocked the event loop. */
const lateMaxMs = 1_000;

/** One handler that runs under a limit. */
interface Limited {
  readonly held: HeldTask;
  readonly stop: StopSignal;
  readonly timeoutMs: number;
  /** Not counted, since the event loop was blocked: no handler could go on or hear its signal. */
  blockedMs: number;
  state: "running" | "told" | "stuck";
}

/** What the limits of one execution need. */
export interface TimeLimitsOptions {
  readonly environment: Pick<WorkerEnvironment, "clock" | "timers">;
  /** Milliseconds until all handlers are told to stop anyway: a later time-out needs no timer. */
  readonly timeLeftMs: () => number;
  /** A handler ran on after its signal and the grace: it may run for ever. */
  readonly onStuck: () => void;
}

/**
 * The time-outs of the handlers of one execution. At `timeoutMs` a handler's signal is aborted; one that runs for the
 * grace (limits.timeoutGraceMs) longer is stuck. One timer for all: it stands at the earliest end, so that a task that
 * ends in time costs an entry in a map.
 */
export class TimeLimits {
  readonly #options: TimeLimitsOptions;
  /** By claim: a database that lost commits may give a task a second time while its first run goes on. */
  readonly #limited = new Map<ClaimedTask, Limited>();
  readonly #timer: EarliestTimer;
  /** Counted as they change: it is asked for after every task. */
  #stuckSize = 0;

  constructor(options: TimeLimitsOptions) {
    this.#options = options;
    this.#timer = new EarliestTimer(options.environment, (atMs) => {
      this.#look(atMs);
    });
  }

  /** Handlers that are past their grace and still run. */
  get stuckSize(): number {
    return this.#stuckSize;
  }

  /** From now on; `timeoutMs` null: no limit. */
  begin(held: HeldTask, stop: StopSignal, timeoutMs: number | null): void {
    if (timeoutMs === null || timeoutMs >= this.#options.timeLeftMs()) return;
    const limited: Limited = { held, stop, timeoutMs, blockedMs: 0, state: "running" };
    this.#limited.set(held.task, limited);
    this.#timer.set(dueMs(limited));
  }

  /** It settled. Answers whether its time was over: then a failure of it is the time-out's. */
  end(task: ClaimedTask): TimedOut | null {
    const limited = this.#limited.get(task);
    if (limited === undefined) return null;
    this.#limited.delete(task);
    if (limited.state === "stuck") this.#stuckSize -= 1;
    if (this.#limited.size === 0) this.close();
    return limited.state === "running" ? null : new TimedOut(limited.timeoutMs);
  }

  /** What the database is to be told of those that are stuck, counted as failed attempts. */
  stuckFailures(): Failure[] {
    const nowMs = this.#options.environment.clock.monotonicMs();
    return [...this.#limited.values()]
      .filter(({ state }) => state === "stuck")
      .map(({ held, timeoutMs }) => ({
        taskId: held.task.taskId,
        fence: held.task.fence,
        durationMs: Math.round(nowMs - held.startedAtMs),
        ...ending(
          "failed",
          `timed out after ${String(timeoutMs)} ms; the handler ran on for ${String(limits.timeoutGraceMs)} ms after its signal was aborted`,
        ),
      }));
  }

  /** Ends the timer; handlers that still run are left to the caller. */
  close(): void {
    this.#timer.cancel();
  }

  /** The time begins anew, once per task: one that blocks the event loop in slices must not live for ever. */
  #forgive(lateMs: number): void {
    if (lateMs <= lateMaxMs) return;
    const nowMs = this.#options.environment.clock.monotonicMs();
    for (const limited of this.#limited.values())
      if (limited.blockedMs === 0) limited.blockedMs = nowMs - limited.held.startedAtMs;
  }

  #look(atMs: number): void {
    this.#forgive(this.#options.environment.clock.monotonicMs() - atMs);
    const nowMs = this.#options.environment.clock.monotonicMs();
    let isStuck = false;
    for (const limited of this.#limited.values()) {
      if (limited.state !== "stuck" && nowMs >= dueMs(limited)) {
        if (limited.state === "running") {
          limited.state = "told";
          limited.stop.abort(new TimedOut(limited.timeoutMs));
        } else {
          limited.state = "stuck";
          this.#stuckSize += 1;
          isStuck = true;
        }
      }
      if (limited.state !== "stuck") this.#timer.set(dueMs(limited));
    }
    if (isStuck) this.#options.onStuck();
  }
}

/** When something is to be done about it next. */
function dueMs({ held, timeoutMs, blockedMs, state }: Limited): number {
  return held.startedAtMs + timeoutMs + blockedMs + (state === "told" ? limits.timeoutGraceMs : 0);
}
