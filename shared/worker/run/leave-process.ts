import { messageOf } from "../../core/foreign-value";
import { executionNumber } from "../../core/ids";
import type { ExecutionId } from "../../core/ids";
import { workerExitCodes } from "../../core/exit-codes";
import type { Failure } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";
import { noteEnds } from "./note-ends";

/** Handlers of one execution that ran on after time-out and grace. */
export interface StuckTasks {
  readonly definition: string;
  readonly executionId: ExecutionId;
  /** Told when the lease can't be trusted any more, or when the process ends: until then a handler may be alone on its task. */
  readonly failures: readonly Failure[];
  /** Milliseconds until then. */
  readonly trustLeftMs: number;
}

/** What becomes of a process with stuck handlers. */
export type WhenStuck = "exit" | "stay";

/** The part of the process that is told of stuck handlers. */
export interface StuckKeeper {
  note(stuck: StuckTasks): void;
}

/** What leaving needs. */
export interface LeaveOptions {
  readonly environment: Pick<WorkerEnvironment, "store" | "logger" | "telemetry" | "timers">;
  readonly whenStuck: WhenStuck;
  /** Resolves when nothing but stuck handlers runs in this process, or after `maxMs`. */
  readonly drained: (maxMs: number) => Promise<void>;
  /** Tells what still runs to end, calls `last` while the store is open, and closes everything. Bounded. */
  readonly close: (last: () => Promise<void>) => Promise<void>;
  readonly exit: (code: number) => void;
}

/** The time that handlers of other executions have to finish; then they are told to stop, and go on elsewhere. */
const drainMs = 30_000;

/**
 * Looks after stuck handlers. Their tokens are never given back: they come back when the lease has run out. Their tasks
 * fail, counted, at the end of the trust in that lease: no second handler of a task starts while the first one holds a
 * trusted token. With `exit` the process takes no new work, lets the others finish, and ends with
 * workerExitCodes.stuck.
 */
export class ProcessLeave implements StuckKeeper {
  readonly #options: LeaveOptions;
  readonly #draining = new AbortController();
  readonly #pending = new Set<StuckTasks>();

  constructor(options: LeaveOptions) {
    this.#options = options;
  }

  /** Aborted when this process takes no new work any more. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  note(stuck: StuckTasks): void {
    this.#pending.add(stuck);
    this.#options.environment.timers.after(stuck.trustLeftMs, () => void this.#tell(stuck));
    if (this.#options.whenStuck === "exit" && !this.draining.aborted) void this.#leave(stuck);
  }

  async #tell(stuck: StuckTasks): Promise<void> {
    if (!this.#pending.delete(stuck)) return;
    await tellStuck(this.#options.environment, stuck);
  }

  async #leave({ definition, failures }: StuckTasks): Promise<void> {
    const { environment, drained, close, exit } = this.#options;
    this.#draining.abort();
    environment.logger.error(
      "a handler is stuck: this process finishes what else it runs and ends, to be started again",
      {
        definition,
        tasks: failures.map(({ taskId }) => taskId).join(","),
        exitCode: workerExitCodes.stuck,
      },
    );
    try {
      await drained(drainMs);
      await close(async () => {
        await Promise.all([...this.#pending].map((stuck) => this.#tell(stuck)));
      });
    } finally {
      exit(workerExitCodes.stuck);
    }
  }
}

/** For programs whose process is ended from outside. */
export function stayWithStuck(
  environment: Pick<WorkerEnvironment, "store" | "logger" | "telemetry" | "timers">,
): StuckKeeper {
  return {
    note: (stuck) => {
      environment.timers.after(stuck.trustLeftMs, () => void tellStuck(environment, stuck));
    },
  };
}

/** Never throws: what isn't told counts as lost when the lease is over. */
async function tellStuck(
  environment: Pick<WorkerEnvironment, "store" | "logger" | "telemetry">,
  { executionId, failures, definition }: StuckTasks,
): Promise<void> {
  const { store, logger } = environment;
  try {
    const { results } = await store.failTasks({ executionId, failures: [...failures] });
    noteEnds(environment, definition, { failures, results });
  } catch (error) {
    logger.warn(
      "a stuck task could not be told as failed; it counts as lost when its lease is over",
      {
        definition,
        execution: executionNumber(executionId),
        error: messageOf(error),
      },
    );
  }
}
