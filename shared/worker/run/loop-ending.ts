import { isForLater, TaskgateError } from "../../core/errors";
import { messageOf } from "../../core/foreign-value";
import { executionNumber } from "../../core/ids";
import type { LoopEnd } from "../../core/next-call";
import type { LoopOptions } from "./loop-options";

/** Whether and why one execution ends. */
export class LoopEnding {
  readonly #options: LoopOptions;
  #end: LoopEnd | null = null;
  #fault: string | null = null;
  #handlersUntilMs: number | null = null;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** null: it goes on. */
  get reason(): LoopEnd | null {
    return this.#end;
  }

  /** Why the execution ended as `failed`, where that was no outage. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Handlers that were told to stop are waited for until this instant; null: none was told. */
  get handlersUntilMs(): number | null {
    return this.#handlersUntilMs;
  }

  /** The first reason stays. */
  stop(end: LoopEnd): void {
    this.#end ??= end;
  }

  /** The loop is over, for the reason that its last step found. */
  finish(end: LoopEnd): void {
    this.#end = end;
  }

  /** The lease is over. Answers false where that was known. */
  lose(): boolean {
    if (this.#end === "lost") return false;
    this.#end = "lost";
    const { environment, definition } = this.#options;
    environment.telemetry.count("taskgate.execution.lost", 1, { definition: definition.name });
    return true;
  }

  /** A call to the store failed after its repeats. An end that wasn't told in time is fenced, or the task runs again elsewhere. */
  fail(error: unknown): void {
    const { environment, started } = this.#options;
    const message = messageOf(error);
    environment.logger.error("a call to the store failed after its repeats; this execution ends", {
      execution: executionNumber(started.executionId),
      error: message,
      code: error instanceof TaskgateError ? error.code : undefined,
    });
    this.#end = "failed";
    // No task causes an outage; a task may cause any other error, and comes back counted.
    this.#fault = isForLater(error) ? null : message;
  }

  /** Handlers are told to stop now; the first time counts. */
  noteTold(): void {
    const { environment, abortGraceMs } = this.#options;
    this.#handlersUntilMs ??= environment.clock.monotonicMs() + abortGraceMs;
  }
}
