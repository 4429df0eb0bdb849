import { LeaseLostError } from "../core/errors";
import { describeThrown, isOf } from "../core/foreign-value";
import { limits } from "../core/limits";
import type { PreparedTask } from "../enqueue/enqueue-prepared";
import type { ClaimedTask } from "../ports/task-store";
import type { TaskKind } from "./define-task";
import type { OpenedWaves } from "../ports/batches";
import type { WorkerEnvironment } from "./environment";
import { withinTask } from "./late-rejections";
import { prepareTask } from "./new-task";
import { failed, outcomeOfReturned, outcomeOfThrown } from "./outcome";
import type { TaskOutcome } from "./outcome";
import { cleanReport } from "./progress";
import type { Registry } from "./registry";
import { validate } from "./standard-schema";
import { RunContext } from "./run-context";
import type { RunCalls } from "./run-context";
import { returnInMs } from "./store-trouble";
import type { StopSignal } from "./stop-signal";
import type { EnqueueRequest, TaskContext } from "./task-context";
import { completeInTransaction, enqueueNow, isFenced } from "./transactions";
import type { TaskInHand } from "./transactions";

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

/** Of most tasks: one list for all of them. */
const noChildren: PreparedTask[] = [];

/** Validates, runs the handler, and says how it ended. Never throws. */
export async function runTask(options: RunOptions): Promise<TaskOutcome> {
  const { kind, hand } = options;
  const task = hand.task;
  // A rolling deploy: this build is too old for the task. It comes back uncounted, for a newer one, as often as its share allows.
  if (kind === null) {
    return continued(
      `kind \`${task.kind}\` is unknown to build ${String(options.environment.build)}`,
      limits.returnShares.unknownKind,
    );
  }
  if (task.isCancelRequested) return failed("cancelled", "cancelled before it started");
  const run = new TaskRun(options);
  try {
    // Awaited either way: a handler begins after what started it, so that one that blocks its process holds back no call.
    const checked = await (kind.schema === null ? null : validate(kind.schema, task.payload));
    if (checked?.ok === false) return refused(task, checked.problems.join("; "));
    const payload = checked === null ? task.payload : checked.value;
    const context = new RunContext(options, kind.kind, run);
    return run.settle(await withinTask(task, () => kind.run(payload, context)));
  } catch (error) {
    return run.settleError(error);
  }
}

function refused(task: ClaimedTask, problems: string): TaskOutcome {
  return task.isFromNewerBuild
    ? continued(`the payload is from a newer build: ${problems}`, limits.returnShares.newerPayload)
    : failed("dead", `the payload is invalid: ${problems}`);
}

/** One run of one handler: what its context does, and what it leaves behind. */
class TaskRun implements RunCalls {
  readonly #options: RunOptions;
  #children: PreparedTask[] = noChildren;
  #completed: OpenedWaves | null = null;
  /** The store said that another worker holds this task. */
  #isLost = false;
  #progressSentAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async completeWith(body: Parameters<TaskContext["completeWith"]>[0]): Promise<void> {
    const { environment, hand } = this.#options;
    try {
      this.#completed = await completeInTransaction(environment, hand, {
        children: this.#ownChildren(), // the body may add to them
        body,
      });
    } catch (error) {
      if (isFenced(error)) this.#isLost = true;
      throw error;
    }
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
        ...cleanReport(report),
      })
      .catch((error: unknown) => {
        environment.logger.debug("a progress report failed", {
          error: describeThrown(error),
          taskId,
        });
      });
  }

  settle(returned: unknown): TaskOutcome {
    if (this.#completed !== null) return { kind: "completed", ...this.#completed };
    return outcomeOfReturned(returned, this.#children);
  }

  settleError(error: unknown): TaskOutcome {
    // The completion is committed: what the handler threw afterwards can't undo it.
    if (this.#completed !== null) return { kind: "completed", ...this.#completed };
    // Only what the lease itself said counts: a handler that throws such an error by itself has failed, and nobody else.
    if (this.#isLost || isOf(this.#options.stop.reason, LeaseLostError)) return { kind: "lost" };
    const { environment, hand } = this.#options;
    const inMs = returnInMs(environment.store, hand.task.taskId, error);
    if (inMs !== null)
      return continued(describeThrown(error), limits.returnShares.storeTrouble, inMs);
    return outcomeOfThrown(error);
  }
}

/** Comes back uncounted. Without `retryInMs` it waits for a newer worker: longer each time, and not for ever. */
function continued(error: string, share: number, retryInMs: number | null = null): TaskOutcome {
  return {
    kind: "failed",
    failure: { as: "continued", error, retryInMs, checkpoint: null, share },
  };
}
