import type { Fence, TaskId } from "../core/ids";
import type { JsonValue } from "../core/json";
import type { Logger } from "../ports/logger";
import { BatchClient } from "./batches";
import type { RunOptions } from "./run-task";
import { Continuation, withFields } from "./task-context";
import type { TaskContext } from "./task-context";
import { Watermarks } from "./watermarks";

/** What the run itself does for its handler. */
export type RunCalls = Pick<TaskContext, "progress" | "enqueue" | "completeWith">;

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
  readonly checkpoint: TaskContext["checkpoint"] = toContinuation;
  private readonly options: RunOptions;
  private readonly calls: RunCalls;
  private madeProgress: TaskContext["progress"] | null = null;
  private madeEnqueue: TaskContext["enqueue"] | null = null;
  private madeCompleteWith: TaskContext["completeWith"] | null = null;
  private madeLog: Logger | null = null;
  private madeBatches: BatchClient | null = null;
  private madeWatermark: Watermarks | null = null;

  constructor(options: RunOptions, kind: string, calls: RunCalls) {
    const { task } = options.hand;
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

  get enqueue(): TaskContext["enqueue"] {
    const { calls } = this;
    return (this.madeEnqueue ??= (request, options) => calls.enqueue(request, options));
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

  get batches(): BatchClient {
    return (this.madeBatches ??= new BatchClient(this.options.environment, this.taskId));
  }

  get watermark(): Watermarks {
    return (this.madeWatermark ??= new Watermarks(this.options.environment, null));
  }
}

function toContinuation(state: JsonValue, options?: { afterMs?: number }): Continuation {
  return new Continuation(state, options?.afterMs ?? 0);
}
