import { InvalidArgumentError, LeaseLostError } from "../core/errors";
import { limits } from "../core/limits";
import type { PreparedTask } from "../enqueue/enqueue-prepared";
import { isTaskFailure } from "../core/task-failure";
import type { ClaimedTask, Failure } from "../ports/task-store";
import type { TaskKind } from "./define-task";
import type { OpenedWaves } from "../ports/batches";
import type { WorkerEnvironment } from "./environment";
import { jsonText, prepareTask } from "./new-task";
import type { Registry } from "./registry";
import { validate } from "./standard-schema";
import { RunContext } from "./run-context";
import type { RunCalls } from "./run-context";
import { returnInMs } from "./store-trouble";
import type { StopSignal } from "./stop-signal";
import { Continuation } from "./task-context";
import type { EnqueueRequest, TaskContext } from "./task-context";
import { completeInTransaction, enqueueNow } from "./transactions";
import type { TaskInHand } from "./transactions";

/** How one run ended. `completed`: the database knows already. `lost`: nothing may be written any more. */
export type TaskOutcome =
  | { kind: "done"; result: string | null; children: PreparedTask[] }
  | ({ kind: "completed" } & OpenedWaves)
  | { kind: "failed"; failure: Omit<Failure, "taskId" | "fence" | "durationMs"> }
  | { kind: "lost" };

/** What the loop gives each run. */
export interface RunOptions {
  readonly environment: WorkerEnvironment;
  readonly hand: TaskInHand;
  readonly kind: TaskKind | null;
  /** For kinds that a handler names by their text. */
  readonly registry: Registry;
  readonly definition: string;
  readonly stop: StopSignal;
  readonly timeLeftMs: () => number;
}

/** How long a kind that this build doesn't know, or a payload of a newer build, waits for a newer worker. */
const newerWorkerDelayMs = 5_000;

/** Of most tasks: one list for all of them. */
const noChildren: PreparedTask[] = [];

/** Validates, runs the handler, and says how it ended. Never throws. */
export async function runTask(options: RunOptions): Promise<TaskOutcome> {
  const { kind, hand } = options;
  const task = hand.task;
  // A rolling deploy: this build is too old for the task. It comes back uncounted, for a newer one.
  if (kind === null) {
    return continued(
      `kind \`${task.kind}\` is unknown to build ${String(options.environment.build)}`,
      newerWorkerDelayMs,
    );
  }
  if (task.isCancelRequested) return failed("cancelled", "cancelled before it started");
  const run = new TaskRun(options);
  try {
    // Awaited either way: a handler begins after what started it, so that one that blocks its process holds back no call.
    const checked = await (kind.schema === null ? null : validate(kind.schema, task.payload));
    if (checked?.ok === false) return refused(task, checked.problems.join("; "));
    const payload = checked === null ? task.payload : checked.value;
    return run.settle(await kind.run(payload, new RunContext(options, kind.kind, run)));
  } catch (error) {
    return run.settleError(error);
  }
}

function refused(task: ClaimedTask, problems: string): TaskOutcome {
  return task.isFromNewerBuild
    ? continued(`the payload is from a newer build: ${problems}`, newerWorkerDelayMs)
    : failed("dead", `the payload is invalid: ${problems}`);
}

/** One run of one handler: what its context does, and what it leaves behind. */
class TaskRun implements RunCalls {
  readonly #options: RunOptions;
  #children: PreparedTask[] = noChildren;
  #completed: OpenedWaves | null = null;
  #progressSentAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async completeWith(body: Parameters<TaskContext["completeWith"]>[0]): Promise<void> {
    const { environment, hand } = this.#options;
    this.#completed = await completeInTransaction(environment, hand, {
      children: this.#ownChildren(), // the body may add to them
      body,
    });
  }

  async enqueue(request: EnqueueRequest, options?: { now?: boolean }): Promise<void> {
    const { environment, hand } = this.#options;
    const child = prepareTask(
      request,
      environment.telemetry.currentTraceParent() ?? hand.task.traceParent,
      this.#options.registry,
    );
    if (options?.now ?? false) await enqueueNow(environment, [child], hand.task);
    else this.#ownChildren().push(child);
  }

  #ownChildren(): PreparedTask[] {
    if (this.#children === noChildren) this.#children = [];
    return this.#children;
  }

  progress(report: Parameters<TaskContext["progress"]>[0]): void {
    const { environment, hand } = this.#options;
    const nowMs = environment.clock.monotonicMs();
    if (nowMs - this.#progressSentAtMs < 1_000) return;
    this.#progressSentAtMs = nowMs;
    const { taskId, fence } = hand.task;
    environment.store
      .reportProgress({
        executionId: hand.executionId,
        taskId,
        fence,
        done: report.done ?? null,
        total: report.total ?? null,
        text: report.text ?? null,
      })
      .catch((error: unknown) => {
        environment.logger.debug("a progress report failed", { error: describe(error), taskId });
      });
  }

  settle(returned: unknown): TaskOutcome {
    if (this.#completed !== null) return { kind: "completed", ...this.#completed };
    if (returned instanceof Continuation) {
      if (Buffer.byteLength(returned.state) > limits.payloadBytesMax) {
        return failed(
          "failed",
          `Expected \`checkpoint\` to be at most ${String(limits.payloadBytesMax)} bytes of JSON`,
        );
      }
      return {
        kind: "failed",
        failure: {
          as: "continued",
          error: null,
          retryInMs: returned.afterMs,
          checkpoint: returned.state,
        },
      };
    }
    if (returned === undefined || returned === null)
      return { kind: "done", result: null, children: this.#children };
    if (typeof returned !== "object") {
      return failed(
        "dead",
        `Expected the handler to return nothing, a JSON object or an array, got \`${typeof returned}\``,
      );
    }
    return { kind: "done", result: jsonText("result", returned), children: this.#children };
  }

  settleError(error: unknown): TaskOutcome {
    // The completion is committed: what the handler threw afterwards can't undo it.
    if (this.#completed !== null) return { kind: "completed", ...this.#completed };
    if (error instanceof LeaseLostError) return { kind: "lost" };
    const message = describe(error);
    const { environment, hand } = this.#options;
    const inMs = returnInMs(environment.store, hand.task.taskId, error);
    if (inMs !== null) return continued(message, inMs);
    if (isTaskFailure(error)) {
      if (error.kind === "cancelled") return failed("cancelled", message);
      if (error.kind === "give-up") return failed("dead", message);
      const retryInMs = Math.min(Math.max(Math.round(error.afterMs ?? 0), 0), limits.retryInMsMax);
      return {
        kind: "failed",
        failure: { as: "failed", error: message, retryInMs, checkpoint: null },
      };
    }
    // Too large a result or child will be too large again.
    if (error instanceof InvalidArgumentError && error.code === "TASKGATE_ARG_TOO_LARGE")
      return failed("dead", message);
    return failed("failed", message);
  }
}

function failed(as: "failed" | "dead" | "cancelled", error: string): TaskOutcome {
  return { kind: "failed", failure: { as, error, retryInMs: null, checkpoint: null } };
}

function continued(error: string, afterMs: number): TaskOutcome {
  return {
    kind: "failed",
    failure: { as: "continued", error, retryInMs: afterMs, checkpoint: null },
  };
}

/** Message, stack and causes, as the attempt's log keeps them. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, limits.errorLengthMax);
  const cause = error.cause instanceof Error ? `\ncaused by ${error.cause.message}` : "";
  const stack = error.stack ?? "";
  const head = `${error.name}: ${error.message}`;
  return `${head}${cause}\n${stack.startsWith(head) ? stack.slice(head.length + 1) : stack}`.slice(
    0,
    limits.errorLengthMax,
  );
}
