import type { Fence, TaskId, WaveId } from "../core/ids";
import type { JsonArray, JsonObject, JsonValue } from "../core/json";
import { jsonTextOf } from "../core/json-text";
import type { LogFields, Logger } from "../ports/logger";
import type { StoreTransaction } from "../ports/task-store";
import type { AnyTaskKind } from "./define-task";
import type { BatchClient } from "./batches";
import type { Watermarks } from "./watermarks";

/** What a handler gets beside its payload. Take apart what you need; who wraps it uses `Object.create(ctx, ..)`: a spread would lose parts. */
export interface TaskContext {
  readonly taskId: TaskId;
  readonly kind: string;
  readonly definition: string;
  /** 1 for the first try; counts failures and lost workers. */
  readonly attempt: number;
  /** Grows with every claim: hand it to other systems that can fence. */
  readonly fence: Fence;
  /** Aborted when the lease is lost, the deadline is near, the process ends or the task is cancelled: stop soon. */
  readonly signal: AbortSignal;
  /** Milliseconds until the signal is aborted for the deadline. */
  timeLeftMs(): number;
  /** What an earlier part of this task left with `checkpoint`, or null. */
  readonly restored: JsonValue;
  readonly log: Logger;
  /** Tells people how far this is; sent at most once a second. */
  progress(report: { done?: number; total?: number; text?: string }): void;
  /**
   * Adds a task. It is written together with this task's completion, so that children exist exactly once; when this
   * task fails they are forgotten. `{ now: true }` writes at once, also when this task fails later.
   */
  enqueue(request: EnqueueRequest, options?: { now?: boolean }): Promise<void>;
  /**
   * Batches of waves that this task makes, starts or resumes, at once: of one name it makes one, and a retry gets that one.
   * Tasks for its waves go by `enqueue({ wave })`, written with this task's completion; so start it in a task of its own.
   */
  readonly batches: BatchClient;
  /**
   * Makes blocks behind a watermark, at once and once: a task that fails afterwards finds them made. Give `completeWith`'s
   * transaction as `within`, and they are written with the completion.
   */
  readonly watermark: Watermarks;
  /**
   * Runs the handler's writes and the fenced completion in one transaction, once: the effects happen exactly once.
   * Afterwards the task is done; what the handler returns is ignored. The result is what `body` returns.
   * Throws LeaseLostError, with everything rolled back, when another worker holds the task now.
   */
  completeWith(
    body: (
      transaction: StoreTransaction,
    ) => Promise<JsonObject | JsonArray | null | undefined | void>,
  ): Promise<void>;
  /**
   * `return ctx.checkpoint(state)` ends this part; the next one, uncounted, finds the state in `restored`. At most 64 KiB.
   * `afterMs` becomes a whole number in 0..30 days; a number that isn't finite, or a state that JSON can't say, fails the part.
   */
  checkpoint(state: JsonValue, options?: { afterMs?: number }): Continuation;
}

/** Marks a handler's return as the end of a part. */
export class Continuation {
  /** JSON text; empty when there is a problem. */
  readonly state: string;
  /** Why the state can't be kept; null: it can. The part fails with it. */
  readonly problem: string | null;
  /** As the handler said it: checked where the part's outcome is. */
  readonly afterMs: number;

  constructor(state: JsonValue, afterMs: number) {
    const written = jsonTextOf("checkpoint", state, "value");
    this.state = "text" in written ? written.text : "";
    this.problem = "text" in written ? null : written.problem;
    this.afterMs = afterMs;
  }
}

/** A task to add, by its kind (checked by the compiler) or by names. */
export interface EnqueueRequest {
  /** The kind, or its name when it belongs to other code; then `definition` is needed unless the names are equal. */
  task: AnyTaskKind | string;
  definition?: string;
  payload?: JsonObject | JsonArray | null;
  priority?: number;
  /** Left out: what the kind says. null: none, where the kind has no `group: { by }`, which always holds. */
  group?: string | null;
  groupScope?: "definition" | "global";
  runInMs?: number;
  runAt?: Date;
  dedupeKey?: string;
  dedupeMs?: number;
  /**
   * What becomes of this payload when another task has the key. keep (default): it is dropped. replace: it takes the
   * place of the other's, if that one is of the same kind and nobody has begun it; else it is dropped.
   */
  onDuplicate?: "keep" | "replace";
  /** Held until this wave of a batch opens; then without `runAt` and `runInMs`. */
  wave?: WaveId;
}

/** A logger that adds facts to every line. */
export function withFields(logger: Logger, fields: LogFields): Logger {
  return {
    debug: (message, more) => {
      logger.debug(message, { ...fields, ...more });
    },
    info: (message, more) => {
      logger.info(message, { ...fields, ...more });
    },
    warn: (message, more) => {
      logger.warn(message, { ...fields, ...more });
    },
    error: (message, more) => {
      logger.error(message, { ...fields, ...more });
    },
  };
}
