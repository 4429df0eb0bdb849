import { LeaseLostError } from "../../core/errors";
import { describeThrown } from "../../core/describe-thrown";
import { isOf } from "../../core/foreign-value";
import { limits } from "../../core/limits";
import { refusedField } from "../../core/refused-field";
import type { PreparedTask } from "../../enqueue/enqueue-prepared";
import type { LogFields } from "../../ports/logger";
import type { WorkerEnvironment } from "../environment";
import type { ClaimedTask, StoreTransaction } from "../../ports/task-store";
import type { OpenedWaves } from "../../ports/task-store";
import { withinTask } from "./late-rejections";
import { jsonText, prepareChecked } from "../client/new-task";
import { failed, outcomeOfReturned, outcomeOfThrown } from "./outcome";
import type { TaskOutcome } from "./outcome";
import { cleanReport, problemOfReport } from "./progress";
import { readPayload } from "./read-payload";
import type { RunOptions } from "./run-options";
import { upgradePayload, versionStored } from "../define/kind-upgrade";
import { validateStored } from "../define/standard-schema";
import { RunContext } from "./run-context";
import type { RunCalls } from "./run-context";
import { cancelledBefore } from "./refused-end";
import { returnInMs } from "./store-trouble";
import { Continuation } from "../define/task-context";
import type { HandlerResult, TaskContext } from "../define/task-context";
import type { TaskRequest } from "../define/task-ref";
import { completeInTransaction, enqueueNow, isFenced } from "../client/transactions";

/** Of most tasks: one list for all of them. */
const noChildren: PreparedTask[] = [];

/** Validates, runs the handler, and says how it ended. Never throws. */
export async function runTask(options: RunOptions): Promise<TaskOutcome> {
  const { kind, held } = options;
  const task = held.task;
  // A rolling deploy: this build is too old for the task. It comes back uncounted, for a newer one, as often as its share allows.
  if (kind === null) {
    warnOfUnknownKind(options, task);
    return continued(
      `kind \`${task.kind}\` is unknown to build ${String(options.environment.build)}`,
      limits.returnShares.unknownKind,
    );
  }
  if (task.isCancelRequested) return failed("cancelled", cancelledBefore);
  const run = new TaskRun(options);
  try {
    // Awaited either way: a handler begins after what started it, so that one that blocks its process holds back no call.
    const stored =
      task.payload === undefined
        ? await readPayload(options.environment.store, task.taskId)
        : { payload: task.payload };
    if ("problem" in stored) return failed("dead", stored.problem);
    const upgraded = upgradePayload(kind, versionStored(kind, task.kind), stored.payload);
    if ("problem" in upgraded) return refused(task, upgraded.problem);
    const given = upgraded.payload;
    const checked = await (kind.schema === null ? null : validateStored(kind.schema, given));
    if (checked?.ok === false) return refused(task, checked.problems.join("; "));
    const payload = checked === null ? given : checked.value;
    const context = new RunContext(options, kind.kind, run);
    const returned = await withinTask(task, () => kind.run(payload, context));
    // A handler need not have awaited its completion: the end isn't known before.
    if (run.completing !== null) await run.completing;
    return run.settle(returned);
  } catch (error) {
    await run.completing?.catch(() => undefined);
    return run.settleError(error);
  }
}

/** Kinds that this process has warned of: the tasks of one may be thousands, and each comes back often. */
const warnedOf = new WeakMap<WorkerEnvironment, Set<string>>();

function warnOfUnknownKind({ environment, held }: RunOptions, { kind }: ClaimedTask): void {
  const known = warnedOf.get(environment) ?? new Set<string>();
  warnedOf.set(environment, known);
  if (known.has(kind)) return;
  known.add(kind);
  const text =
    "tasks come of a kind that this build doesn't have; they are put back, and dead after about an hour";
  environment.logger.warn(text, { kind, taskId: held.task.taskId, build: environment.build });
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
  #isCompleting = false;
  /** The completion that hasn't ended. */
  completing: Promise<unknown> | null = null;
  /** What has taken the children along: none goes with it any more. */
  #closedBy: "completion" | "handler's end" | null = null;
  /** The store said that another worker holds this task. */
  #isLost = false;
  #progressSentAtMs = Number.NEGATIVE_INFINITY;
  #hasCheckpoint = false;
  #hasBadProgress = false;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async completeWith<Result extends HandlerResult>(
    body: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isCompleting || this.#completed !== null)
      throw refusedField(
        "completeWith",
        "one call; what a second one writes would be no part of the completion",
      );
    this.#isCompleting = true; // before its body runs
    const completing = this.#complete(body);
    this.completing = completing;
    return completing;
  }

  async #complete<Result extends HandlerResult>(
    body: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    const { environment, held } = this.#options;
    const children = this.#ownChildren(); // the body may add to them
    const before = children.length;
    try {
      const { returned, ...opened } = await completeInTransaction(environment, held, {
        children,
        body,
        toResult: (result) => {
          this.#closedBy ??= "completion";
          if (isOf(result, Continuation)) throw noPartFollows();
          return result == null ? null : jsonText("result", result);
        },
      });
      this.#completed = opened;
      return returned;
    } catch (error) {
      if (isFenced(error)) this.#isLost = true;
      // Rolled back with the rest: a handler that calls again adds them again.
      children.length = before;
      if (this.#closedBy === "completion") this.#closedBy = null;
      throw error;
    } finally {
      this.#isCompleting = false;
      this.completing = null;
    }
  }

  async enqueue(request: TaskRequest, isNow: boolean): Promise<void> {
    const { environment, held } = this.#options;
    const preparing = prepareChecked(
      request,
      environment.telemetry.currentTraceParent() ?? held.task.traceParent,
      this.#options.registry,
    );
    // Without a pause where the schema answers at once: a handler that doesn't wait for this has its child all the same.
    const child = preparing instanceof Promise ? await preparing : preparing;
    if (isNow) await enqueueNow(environment, [child], held.task);
    else if (this.#closedBy !== null)
      throw refusedField(
        "enqueue",
        "before the end of the handler, or of completeWith's body, or with `now: true`; nothing would add this child",
      );
    else this.#ownChildren().push(child);
  }

  #ownChildren(): PreparedTask[] {
    if (this.#children === noChildren) this.#children = [];
    return this.#children;
  }

  noteCheckpoint(): void {
    this.#hasCheckpoint = true;
  }

  progress(report: Parameters<TaskContext["progress"]>[0]): void {
    const { environment, held } = this.#options;
    const problem = this.#hasBadProgress ? null : problemOfReport(report);
    if (problem !== null) {
      this.#hasBadProgress = true;
      this.#warn("a progress report tells less than was meant", { problem });
    }
    const nowMs = environment.clock.monotonicMs();
    if (nowMs - this.#progressSentAtMs < 1_000) return;
    this.#progressSentAtMs = nowMs;
    const { taskId, fence } = held.task;
    environment.store
      .reportProgress({
        executionId: held.executionId,
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
    this.#closedBy = "handler's end";
    if (this.#completed !== null) {
      // Committed, so it can't be refused any more.
      if (isOf(returned, Continuation))
        this.#warn("a handler returned a checkpoint after its task was completed: no part follows");
      return { kind: "completed", ...this.#completed };
    }
    if (this.#hasCheckpoint && !isOf(returned, Continuation))
      this.#warn("a handler made a checkpoint and didn't return it: its task is done", {
        problem: "`return ctx.checkpoint(..)` lets another part follow",
      });
    return outcomeOfReturned(returned, this.#children);
  }

  settleError(error: unknown): TaskOutcome {
    this.#closedBy = "handler's end";
    // The completion is committed: what the handler threw afterwards can't undo it.
    if (this.#completed !== null) {
      this.#warn("a handler failed after its task was completed", { error: describeThrown(error) });
      return { kind: "completed", ...this.#completed };
    }
    // Only the lease's own word counts: a handler that throws such an error by itself has failed, and no other task.
    if (this.#isLost || isOf(this.#options.stop.reason, LeaseLostError)) return { kind: "lost" };
    const { environment, held } = this.#options;
    const inMs = returnInMs(environment.store, held.task.taskId, error);
    if (inMs !== null)
      return continued(describeThrown(error), limits.returnShares.storeTrouble, inMs);
    return outcomeOfThrown(error);
  }

  #warn(message: string, facts: LogFields = {}): void {
    const { environment, held } = this.#options;
    environment.logger.warn(message, { taskId: held.task.taskId, ...facts });
  }
}

function noPartFollows(): Error {
  return refusedField(
    "completeWith",
    "its body to return the task's result, got a checkpoint; the task is done when it commits, and no part follows. Return `ctx.checkpoint(..)` from the handler, without `completeWith`",
  );
}

/** Comes back uncounted. Without `retryInMs` it waits for a newer worker: longer each time, and not for ever. */
function continued(error: string, share: number, retryInMs: number | null = null): TaskOutcome {
  return {
    kind: "failed",
    failure: { as: "continued", error, retryInMs, checkpoint: null, share },
  };
}
