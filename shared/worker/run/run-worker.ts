import { messageOf } from "../../core/foreign-value";
import { executionNumber } from "../../core/ids";
import { askForTokens } from "./ask-for-tokens";
import { BatchPump } from "./batch-pump";
import type { Definition } from "../define/task-kind";
import type { WorkerEnvironment } from "../environment";
import { ExecutionLoop } from "./execution-loop";
import { limits } from "../../core/limits";
import { permitInMs } from "../../core/next-call";
import type { LoopEnd } from "../../core/next-call";
import type { StartExecutionAnswer } from "../../ports/task-store";
import type { Heartbeat } from "./heartbeat";
import { stayWithStuck } from "./leave-process";
import type { StuckKeeper } from "./leave-process";
import type { ProcessGate } from "./process-gate";
import { registerAll } from "../client/register";
import { startExecution } from "../client/start-execution";
import type { Registry } from "../define/registry";
import { registerSchedules } from "./schedules";
import type { Standby } from "./standby";

/** How a worker works; the composition root takes it from the settings. */
export interface WorkerOptions {
  readonly environment: WorkerEnvironment;
  readonly registry: Registry;
  readonly heartbeat: Heartbeat;
  /** Most tokens to ask for, where the definition doesn't say. */
  readonly concurrencyPerWorker: number;
  /** Most tokens to ask for in any case. Default: as many as the definition may have. */
  readonly tokensMax?: number;
  readonly idleReads: number;
  readonly idlePauseMs: number;
  /** Told of handlers that ran on after their time-out; default: the process stays. */
  readonly stuck?: StuckKeeper;
  /** One per process; without it a suspect has no neighbours in its own execution only. */
  readonly gate?: ProcessGate;
}

/** When an execution must be over, and which signals end it sooner. Monotonic milliseconds. */
export interface ExecutionBounds {
  /** Everything is written and given back before this instant. */
  readonly deadlineMs: number;
  /** Kept before the deadline for aborting, giving back and closing. */
  readonly marginMs: number;
  readonly signal: AbortSignal;
  /** Aborted when this process claims nothing more; running handlers may finish. */
  readonly draining?: AbortSignal;
  /** Of an execution that waits for tasks to come. */
  readonly standby?: Standby;
}

/** How an execution went, or why none began. All of them are success for a queue message: `limited` is what the limit is for. */
export interface WorkerResult {
  readonly status: "worked" | "limited" | "paused" | "none" | "unknown";
  readonly end: LoopEnd | null;
  readonly tokens: number;
}

/** The store went away while the worker worked, or a handler is stuck: what it left is for the next one. */
export function isBroken({ end }: WorkerResult): boolean {
  return end === "failed" || end === "lost" || end === "stuck";
}

/** Of a worker that got no token. */
const notBegun = { end: null, tokens: 0 } as const;

/**
 * One execution of a worker for one definition: tokens, tasks until there is nothing left or the time is up, tokens
 * back, and a hint when work remains that the limit would let run. Throws only when the store can't be reached at the start.
 */
export async function runWorker(
  options: WorkerOptions,
  name: string,
  bounds: ExecutionBounds,
): Promise<WorkerResult> {
  const { environment, registry } = options;
  const definition = registry.definition(name);
  if (definition === null) {
    environment.logger.warn("a hint named a definition that this build doesn't have", {
      definition: name,
      build: environment.build,
    });
    return { status: "unknown", ...notBegun };
  }
  if (bounds.draining?.aborted === true) return { status: "none", end: "stopped", tokens: 0 };
  await environment.app?.require(name);
  const { tokensMax = limits.tokensMax } = options;
  const want = Math.min(definition.concurrencyPerWorker ?? options.concurrencyPerWorker, tokensMax);
  const stopAtMs = bounds.deadlineMs - bounds.marginMs;
  const { sentAt, started } = await askForTokens(
    environment,
    () =>
      startExecution(environment, { definition, want, needsReady: true }, () =>
        makeKnown(options, definition),
      ),
    { atMs: stopAtMs, signal: bounds.signal },
  );
  if (started.deadHolders > 0) await reclaim(environment);
  const { executionId } = started;
  if (started.status !== "started" || executionId === null)
    return endDenied(environment, name, started);
  environment.telemetry.count("taskgate.execution.started", 1, { definition: name });
  const pump = new BatchPump(environment, stopAtMs);
  const loop = new ExecutionLoop({
    environment,
    registry,
    definition,
    sentAt,
    started: { ...started, executionId },
    tokensWanted: want,
    stopAtMs,
    abortAtMs: bounds.deadlineMs - bounds.marginMs / 2,
    // The rest of the margin is for closing; on a stop the host itself waits 5 s and no longer.
    abortGraceMs: Math.min(bounds.marginMs / 4, abortGraceMaxMs),
    idleReads: options.idleReads,
    idlePauseMs: options.idlePauseMs,
    signal: bounds.signal,
    draining: bounds.draining,
    standby: bounds.standby,
    gate: options.gate,
    wake: (definitions) => {
      for (const other of new Set(definitions)) void environment.wakeUp.hint(other);
    },
    wakeMore: () => void environment.wakeUp.hint(name, { isForMore: true }),
    pump,
  });
  const stopRenewing = options.heartbeat.add(loop.lease);
  const end = await loop.run();
  stopRenewing();
  await finish(environment, loop, { name, end, pump, stuck: options.stuck });
  await pump.settled();
  return { status: "worked", end, tokens: started.tokens };
}

/** No token: what is known of a better moment goes into a hint. */
async function endDenied(
  environment: WorkerEnvironment,
  name: string,
  { status, nextDueMs, demand }: StartExecutionAnswer,
): Promise<WorkerResult> {
  const denials = status === "limited" ? 1 : 0;
  environment.telemetry.count("taskgate.execution.limited", denials, { definition: name });
  if (nextDueMs !== null) await environment.wakeUp.hint(name, { inMs: nextDueMs });
  // The hint woke a process that holds tokens; the next hint may wake the one that the free tokens are reserved for.
  if (demand === "others") await environment.wakeUp.hint(name, { isSure: true });
  return { status: status === "limited" || status === "paused" ? status : "none", ...notBegun };
}

async function makeKnown(
  { environment, registry }: WorkerOptions,
  definition: Definition,
): Promise<void> {
  await registerAll(environment, registry, definition);
  await registerSchedules(environment, registry);
}

/** A process that is told to end has less than 4 s for all of it. */
const abortGraceMaxMs = 2_500;

async function finish(
  environment: WorkerEnvironment,
  loop: ExecutionLoop,
  last: { name: string; end: LoopEnd; pump: BatchPump; stuck: StuckKeeper | undefined },
): Promise<void> {
  const { logger, store, wakeUp } = environment;
  const { executionId, trustLeftMs } = loop.lease;
  const failures = loop.running.stuckFailures();
  if (failures.length > 0) {
    (last.stuck ?? stayWithStuck(environment)).note({
      definition: last.name,
      executionId,
      failures,
      trustLeftMs,
    });
  }
  if (last.end === "lost") return;
  try {
    await loop.countStarted();
    const stragglers = loop.running.size;
    if (stragglers > 0) {
      // Handlers that ignore their signal keep their tokens until the lease ends: a token never outruns its handler.
      logger.error(
        "handlers ignored their abort signal; their tokens come back when the lease ends",
        {
          execution: executionNumber(executionId),
          definition: last.name,
          handlers: stragglers,
        },
      );
      const { ready, woken } = await store.releaseTokens({ executionId, keep: stragglers });
      const hints = woken.map((other) => wakeUp.hint(other));
      if (ready) hints.push(wakeUp.hint(last.name, { isRest: true }));
      await Promise.all(hints);
      return;
    }
    const answer = await store.finishExecution({ executionId });
    last.pump.open(answer.opening);
    const hints: Promise<void>[] = answer.woken.map((other) => wakeUp.hint(other));
    const inMs = permitInMs({ claims: loop.outlook, nowMs: environment.clock.monotonicMs() });
    if (answer.ready && last.end !== "paused")
      hints.push(
        wakeUp.hint(last.name, { isRest: true, ...(inMs === 0 ? {} : { inMs: Math.ceil(inMs) }) }),
      );
    else if (answer.nextDueMs !== null)
      hints.push(wakeUp.hint(last.name, { inMs: answer.nextDueMs }));
    await Promise.all(hints);
  } catch (error) {
    logger.error("an execution could not be closed; its tokens come back when the lease ends", {
      execution: executionNumber(executionId),
      error: messageOf(error),
    });
  }
}

/** Takes back what dead workers held and leaves hints for it. Bounded: the rest, and waves that it opened, are the sweep's. */
export async function reclaim(environment: WorkerEnvironment): Promise<void> {
  const answer = await environment.store.reclaimExpired({ max: 20 });
  if (answer.status === "none") return;
  environment.telemetry.count("taskgate.task.lost", answer.tasksLost);
  environment.telemetry.count("taskgate.task.dead", answer.tasksDead);
  environment.logger.warn("took back what dead workers held", {
    executions: answer.executions,
    tasksBack: answer.tasksBack,
    tasksLost: answer.tasksLost,
    tasksDead: answer.tasksDead,
  });
  await Promise.all(answer.definitions.map((definition) => environment.wakeUp.hint(definition)));
}
