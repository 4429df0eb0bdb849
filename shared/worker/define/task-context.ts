import type { Fence, TaskId } from "../../core/ids";
import type { JsonValue } from "../../core/json";
import { jsonTextOf } from "../../core/json-text";
import type { LogFields, Logger } from "../../ports/logger";
import type { StoreTransaction } from "../../ports/task-store";
import type { BatchCalls } from "./batch-calls";
import type { WatermarkCalls } from "./block-options";
import type { AnyTaskRef, ChildOptions, EnqueueArguments, TaskInput } from "./task-ref";

/** What a handler may leave as its task's result: nothing, a JSON object or an array, at most 64 KiB. */
export type HandlerResult = ResultObject | ResultValue[] | null | undefined | void;

/** A JSON object whose members may be undefined: the compiler adds such members where branches return different objects, and JSON leaves them out. */
export interface ResultObject {
  [key: string]: ResultValue | undefined;
}
/** A value within a handler's result. */
export type ResultValue = string | number | boolean | null | ResultObject | ResultValue[];

/** What a handler gets beside its payload. Take apart what you need. A wrapper uses `Object.create(ctx, ..)`: a spread would lose parts. */
export interface TaskContext {
  readonly taskId: TaskId;
  readonly kind: string;
  readonly definition: string;
  /** 1 for the first try; counts failures and lost workers. */
  readonly attempt: number;
  /**
   * Grows with every claim: hand it to other systems that can fence.
   * @advanced
   */
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
   * task fails they are forgotten. Those of a part that ends with `checkpoint` are written just before it, all or none: a process
   * that dies between the two, or stands still past its lease, makes them twice, unless they have a dedupe key. `{ now: true }` writes at once, also when this
   * task fails later. Throws InvalidArgumentError for a payload that the kind's schema refuses, and without `now` once the
   * handler, or the body of `completeWith`, has ended.
   */
  enqueue<Task extends AnyTaskRef>(
    task: Task,
    ...payloadAndOptions: EnqueueArguments<TaskInput<Task>, ChildOptions>
  ): Promise<void>;
  /**
   * Batches of waves that this task makes, starts or resumes, at once: of one name it makes one, and a retry gets that one.
   * Tasks for its waves go by the option `wave` of `enqueue`, written with this task's completion; so start it in a task of
   * its own.
   */
  readonly batches: BatchCalls;
  /**
   * Makes blocks behind a watermark, at once and once: a task that fails afterwards finds them made. Give `completeWith`'s
   * transaction as `transaction`, and they are written with the completion.
   */
  readonly watermark: WatermarkCalls;
  /**
   * Runs the handler's writes and the fenced completion in one transaction, once: the effects happen exactly once.
   * Afterwards the task is done, and its result is what `body` returns: return it from the handler, too, so that the kind's
   * result type follows. Throws LeaseLostError, with everything rolled back, when another worker holds the task now, and
   * InvalidArgumentError when the task is completed already.
   */
  completeWith<Result extends HandlerResult>(
    body: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result>;
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

/** A logger that adds facts to every line. */
export function withFields(logger: Logger, fields: LogFields): Logger {
  const at =
    (level: keyof Logger): Logger["info"] =>
    (message, more) => {
      logger[level](message, { ...fields, ...more });
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
