import { messageOf, hasMember } from "../core/foreign-value";
import { setMaxListeners } from "node:events";
import { InvalidArgumentError, isForLater, SchemaError } from "../core/errors";
import { checkNames } from "../core/known-names";
import { limits } from "../core/limits";
import { didYouMean } from "../core/near-name";
import { refusedField } from "../core/refused-field";
import { checkInteger } from "../core/text";
import { checkList, wrongValue } from "../core/wrong-value";
import { nodeTimers } from "../platform/node-timers";
import { NotifyingWakeUp } from "../platform/notifying-wake-up";
import { realClock, sleep } from "../platform/real-clock";
import { noWakeUp } from "../platform/storage-queue-wake-up";
import type { TaskListener } from "../ports/task-listener";
import { openListener } from "../store/open-store";
import type { Registry } from "../worker/define/registry";
import { ResidentProcess } from "../worker/resident/resident-process";
import { ResidentWakeUp } from "../worker/resident/resident-wake-up";
import type { ExecutionBounds } from "../worker/run/run-worker";
import { afterAbort } from "./invocations";
import { addressOf } from "./runtime";
import type { AppProcess, Runtime } from "./runtime";

/** How a resident process works. */
export interface WorkOptions {
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** Names of the definitions to work for. Default: all of the app. */
  readonly definitions?: readonly string[];
  /** Most tasks that run at the same time per definition, 1..1000. Default: TASKGATE_CONCURRENCY_PER_WORKER. */
  readonly concurrency?: number;
  /** The longest pause between two polls, 1..2,147,483,647 ms: they find what no notification told of. Default 2,000. */
  readonly pollMs?: number;
  /** How long running handlers may go on once `signal` is aborted, 0..2,147,483,647 ms. Default 5,000. */
  readonly graceMs?: number;
}

/** An execution ends when it runs out of tasks; no host ends it by a deadline. */
const executionMs = 365 * 86_400_000;
/** A timer of more would fire at once. */
const longestMs = 2_147_483_647;
/** Between two looks for a database that is away at the start. */
const awayMs = 2_000;
/** A wait that lasts, as for a password that is wrong, is told again. */
const tellEveryMs = 60_000;
/** The time for running work to end and to be given back, once it is told to stop; a silent database would hold it for minutes. */
const stopMs = 3_000;

/** The two ends of a resident process: nothing more begins; running work is told to stop. */
interface Ends {
  readonly draining: AbortSignal;
  readonly stopping: AbortSignal;
}

/** As `Gate.work` says. */
export async function workResident(app: AppProcess, options: WorkOptions): Promise<void> {
  checkOptions(options);
  const runtime = await openWhenThere(app, options.signal);
  if (runtime === null) return;
  const definitions = readDefinitions(runtime.registry, options.definitions);
  const drain = new AbortController();
  const stop = new AbortController();
  const ends: Ends = {
    draining: AbortSignal.any([drain.signal, runtime.leave.draining, app.invocations.ending]),
    stopping: AbortSignal.any([stop.signal, app.invocations.ending]),
  };
  // Each execution listens.
  for (const signal of Object.values(ends)) setMaxListeners(0, signal as AbortSignal);
  let cancelStop = (): void => undefined;
  const onSignal = (): void => {
    runtime.environment.logger.info("ending: running tasks may finish, the rest is given back");
    drain.abort();
    cancelStop = nodeTimers.after(options.graceMs ?? 5_000, () => {
      stop.abort();
    });
  };
  options.signal.addEventListener("abort", onSignal, { once: true });
  if (options.signal.aborted) onSignal();
  const patience = afterAbort(ends.stopping, stopMs);
  try {
    // The end of the app waits for it, too.
    const work = app.invocations.counted(() =>
      workUntilDrained(runtime, { ...options, definitions }, ends),
    );
    await Promise.race([work, patience.over]);
  } finally {
    options.signal.removeEventListener("abort", onSignal);
    cancelStop();
    patience.cancel();
  }
}

/** Before the database is waited for. Throws InvalidArgumentError, naming the option. */
function checkOptions(options: WorkOptions): void {
  checkNames("work", options, ["signal", "definitions", "concurrency", "pollMs", "graceMs"]);
  const { signal, definitions, concurrency = 1, pollMs = 2_000, graceMs = 5_000 } = options;
  if (!hasMember(signal, "aborted"))
    throw wrongValue("signal", "an AbortSignal, which ends the work", signal);
  if (definitions !== undefined) checkList("definitions", definitions, "names of definitions");
  checkInteger("concurrency", concurrency, { min: 1, max: limits.tokensMax });
  checkInteger("pollMs", pollMs, { min: 1, max: longestMs });
  checkInteger("graceMs", graceMs, { min: 0, max: longestMs });
}

async function workUntilDrained(
  runtime: Runtime,
  options: WorkOptions & { readonly definitions: readonly string[] },
  { draining, stopping }: Ends,
): Promise<void> {
  const { environment, settings } = runtime;
  const { definitions, pollMs = 2_000 } = options;
  const wakeUp = new ResidentWakeUp({
    others: environment.wakeUp,
    residents: new NotifyingWakeUp({
      hints: noWakeUp,
      store: () => environment.store,
      clock: realClock,
      timers: nodeTimers,
    }),
  });
  let wake: (definition: string | null) => void = () => undefined;
  const listener = listen(runtime, (definition) => {
    wake(definition);
  });
  const resident = new ResidentProcess({
    worker: {
      ...runtime.worker,
      environment: { ...environment, wakeUp },
      concurrencyPerWorker: options.concurrency ?? settings.concurrencyPerWorker,
    },
    wakeUp,
    definitions,
    pollMs,
    listener,
    draining,
    bounds: (): ExecutionBounds => ({
      deadlineMs: realClock.monotonicMs() + executionMs,
      marginMs: settings.deadlineMarginMs,
      signal: stopping,
      draining,
    }),
  });
  wake = resident.wake.bind(resident);
  await resident.run(() => {
    environment.logger.info("working", {
      definitions: definitions.join(", "),
      worker: environment.workerName,
      build: environment.build,
    });
  });
  await listener?.close();
}

function listen(runtime: Runtime, wake: (definition: string | null) => void): TaskListener | null {
  const { settings, environment } = runtime;
  const { logger } = environment;
  let isTroubled = false;
  return openListener({
    ...addressOf(settings),
    timers: nodeTimers,
    events: {
      onNews: wake,
      onListening: () => {
        if (isTroubled) logger.info("new tasks are notified again");
        isTroubled = false;
        wake(null);
      },
      onTrouble: (reason) => {
        isTroubled = true;
        logger.warn("new tasks aren't notified now; polls find them", { reason });
      },
    },
  });
}

/** Waits for a database that is away; null: the signal came first. */
async function openWhenThere(app: AppProcess, signal: AbortSignal): Promise<Runtime | null> {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    try {
      return await beforeAbort(signal, app.runtime());
    } catch (error) {
      // A schema that doesn't fit is mended by a person: the log tells it.
      if (!isForLater(error) || error instanceof SchemaError) throw error;
      const { logger } = await app.services();
      const nowMs = realClock.monotonicMs();
      if (nowMs - toldAtMs >= tellEveryMs) {
        logger.warn("waiting for the database", { reason: messageOf(error) });
        toldAtMs = nowMs;
      }
      await sleep(awayMs, signal);
    }
  }
  return null;
}

/** The first of two: the runtime, or null at the signal. A silent database answers neither. */
async function beforeAbort(
  signal: AbortSignal,
  opening: Promise<Runtime>,
): Promise<Runtime | null> {
  const { over, cancel } = afterAbort(signal, 0);
  try {
    return await Promise.race([opening, over.then(() => null)]);
  } finally {
    cancel();
  }
}

/** Throws InvalidArgumentError, naming the near name. */
function readDefinitions(registry: Registry, asked: readonly string[] | undefined): string[] {
  const known = registry.definitions.map(({ name }) => name);
  const names = [...new Set(asked ?? known)];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined && names.length > 0) return names;
  if (unknown === undefined)
    throw refusedField("definitions", "at least one, got none: the app has no tasks");
  throw new InvalidArgumentError(
    `definitions: expected names of this app's definitions, got \`${unknown.slice(0, 200)}\`.${didYouMean(unknown, known)} It has ${known.join(", ")}`,
    { code: "TASKGATE_ARG_UNKNOWN", details: { field: "definitions" } },
  );
}
