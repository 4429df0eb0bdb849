import type { Fence, TaskId } from "../../core/ids";
import type { JsonValue } from "../../core/json";
import { checkNames } from "../../core/known-names";
import type { Logger } from "../../ports/logger";
import { BatchClient } from "../client/batches";
import type { BatchCalls } from "../define/batch-calls";
import type { WatermarkCalls } from "../define/block-options";
import type { RunOptions } from "./run-options";
import { Continuation, withFields } from "../define/task-context";
import type { TaskContext } from "../define/task-context";
import { checkEnqueueNames, toRequest } from "../define/task-ref";
import type { ChildOptions, TaskRequest } from "../define/task-ref";
import { Watermarks } from "../client/watermarks";

/** What the run itself does for its handler. */
export interface RunCalls extends Pick<TaskContext, "progress" | "completeWith"> {
  /** A checkpoint was made, which the handler is to return. */
  noteCheckpoint(): void;
  /** `isNow`: written at once. */
  enqueue(request: TaskRequest, isNow: boolean): Promise<void>;
}

/**
 * What a handler gets. Some of it few handlers ask for: that is made when they do, at a third of the worker's own time per
 * task. Functions are values of their own, so that handlers may take them out of it; and nothing is private to the
 * language, so that `Object.create(context, ..)` is one, too.
 */
export class RunContext implements TaskContext {
  readonly taskId: TaskId;
  readonly kind: string;
  readonly definition: string;
  readonly attempt: number;
  readonly fence: Fence;
  readonly restored: JsonValue;
  readonly timeLeftMs: TaskContext["timeLeftMs"];
  private readonly options: RunOptions;
  private readonly calls: RunCalls;
  private madeProgress: TaskContext["progress"] | null = null;
  private madeCheckpoint: TaskContext["checkpoint"] | null = null;
  private madeEnqueue: TaskContext["enqueue"] | null = null;
  private madeCompleteWith: TaskContext["completeWith"] | null = null;
  private madeLog: Logger | null = null;
  private madeBatches: BatchCalls | null = null;
  private madeWatermark: WatermarkCalls | null = null;

  constructor(options: RunOptions, kind: string, calls: RunCalls) {
    const { task } = options.held;
    this.options = options;
    this.taskId = task.taskId;
    this.kind = kind;
    this.definition = options.definition;
    this.attempt = task.attempt;
    this.fence = task.fence;
    this.restored = task.checkpoint === null ? null : (JSON.parse(task.checkpoint) as JsonValue);
    this.timeLeftMs = options.timeLeftMs;
    this.calls = calls;
  }

  get signal(): AbortSignal {
    return this.options.stop.signal;
  }

  get progress(): TaskContext["progress"] {
    const { calls } = this;
    return (this.madeProgress ??= (report) => {
      calls.progress(report);
    });
  }

  get checkpoint(): TaskContext["checkpoint"] {
    const { calls } = this;
    return (this.madeCheckpoint ??= (state, options) => {
      calls.noteCheckpoint();
      return toContinuation(state, options);
    });
  }

  get enqueue(): TaskContext["enqueue"] {
    const { calls } = this;
    return (this.madeEnqueue ??= async (task, ...[payload, given]) => {
      checkEnqueueNames(given, "now");
      const { now = false, ...options }: ChildOptions = given ?? {};
      await calls.enqueue(toRequest({ task, payload, options }), now);
    });
  }

  get completeWith(): TaskContext["completeWith"] {
    const { calls } = this;
    return (this.madeCompleteWith ??= (body) => calls.completeWith(body));
  }

  get log(): Logger {
    const { taskId, kind, attempt } = this;
    return (this.madeLog ??= withFields(this.options.environment.logger, {
      taskId,
      kind,
      attempt,
    }));
  }

  get batches(): BatchCalls {
    return (this.madeBatches ??= new BatchClient(this.options.environment, this.taskId));
  }

  get watermark(): WatermarkCalls {
    return (this.madeWatermark ??= new Watermarks(this.options.environment, null));
  }
}

function toContinuation(state: JsonValue, options?: { afterMs?: number }): Continuation {
  if (options === undefined) return new Continuation(state, 0);
  checkNames("ctx.checkpoint", options, ["afterMs"]);
  return new Continuation(state, options.afterMs ?? 0);
}
