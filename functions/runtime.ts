import type { Admin } from "../shared/admin/create-admin";
import { createAdmin } from "../shared/admin/create-admin";
import { resolveBuild } from "../shared/platform/build-info";
import { createConsoleLogger } from "../shared/platform/console-logger";
import { nodeTimers } from "../shared/platform/node-timers";
import { realClock, realRandom, sleep } from "../shared/platform/real-clock";
import { createHintQueue } from "../shared/platform/storage-hint-queue";
import { createStorageQueueWakeUp, noWakeUp } from "../shared/platform/storage-queue-wake-up";
import { loadTelemetry } from "../shared/platform/telemetry";
import type { Telemetry } from "../shared/ports/telemetry";
import type { WakeUp } from "../shared/ports/wake-up";
import { loadSettings } from "../shared/settings/load-settings";
import type { Settings } from "../shared/settings/settings";
import { checkStoreSchema, openStore } from "../shared/store/open-store";
import type { DatabaseAddress } from "../shared/store/open-store";
import { TaskClient } from "../shared/worker/client";
import { completeTasks } from "../shared/worker/complete-tasks";
import type { WorkerEnvironment } from "../shared/worker/environment";
import { Heartbeat } from "../shared/worker/heartbeat";
import { createRegistry } from "../shared/worker/registry";
import type { Registry } from "../shared/worker/registry";
import type { Stay, WorkerOptions } from "../shared/worker/run-worker";
import { builtInTasks } from "./built-in-tasks";
import { SchemaGuard } from "./schema-guard";
import { tasks } from "./tasks";

/**
 * The composition root of the functions: settings to services, built at the first invocation and once per process.
 * Not at load: on Azure the environment is put in place after the worker process has started.
 */
export interface Runtime {
  readonly settings: Settings;
  readonly environment: WorkerEnvironment;
  readonly registry: Registry;
  readonly heartbeat: Heartbeat;
  readonly client: TaskClient;
  readonly admin: Admin;
  readonly worker: WorkerOptions;
  /** One invocation's stay: until shortly before the host would kill the whole process. */
  stay(): Stay;
}

/** Aborted once, when the host tells the process to end. */
const ending = new AbortController();
/** Invocations that must settle before the process may end. */
const invocations = new Set<Promise<unknown>>();
let runtime: Promise<Runtime> | null = null;
/** Started once, whatever becomes of the rest. */
let telemetryOfProcess: Promise<Telemetry> | null = null;
const schemaGuard = new SchemaGuard();

/** The services of this process. A failure is not kept: the next invocation tries again (SchemaGuard: after a while). */
export function getRuntime(): Promise<Runtime> {
  runtime ??= build().catch((error: unknown) => {
    runtime = null;
    throw error;
  });
  return runtime;
}

/** Runs one invocation so that `endRuntime` waits for it. */
export async function tracked<Result>(
  body: (runtime: Runtime) => Promise<Result>,
): Promise<Result> {
  const invocation = getRuntime().then(body);
  invocations.add(invocation);
  try {
    return await invocation;
  } finally {
    invocations.delete(invocation);
  }
}

/** How long the end may take: the host kills the process 5 s after it asked (functions-runtime: WorkerTerminate). */
const endMs = 3_500;
/** The host gets the last answers only when the process lives a little longer. */
const lingerMs = 100;

/** Gives back what is held and closes the connections, in about 3.5 s. For `app.hook.appTerminate`. */
export async function endRuntime(): Promise<void> {
  if (runtime === null) return;
  ending.abort();
  const current = await runtime.catch(() => null);
  await Promise.race([Promise.allSettled(invocations), sleep(endMs)]);
  await current?.environment.telemetry.flush(500);
  await Promise.race([current?.environment.store.close().catch(() => undefined), sleep(500)]);
  await sleep(lingerMs);
}

async function build(): Promise<Runtime> {
  const settings = loadSettings();
  const logger = createConsoleLogger({ level: settings.logLevel, form: "human", clock: realClock });
  // Before the drivers, which are instrumented when they are loaded.
  telemetryOfProcess ??= loadTelemetry(settings.telemetry, logger);
  const telemetry = await telemetryOfProcess;
  const address = addressOf(settings);
  const check = (): Promise<void> => checkStoreSchema(address);
  await schemaGuard.pass({ check, clock: realClock, logger });
  const store = openStore({
    ...address,
    connectionsMax: settings.connectionsMax,
    callTimeoutMs: settings.callTimeoutMs,
    random: realRandom,
    sleep,
    onIdleError: (error) => {
      logger.warn("a connection broke while it was idle", { error: error.message });
    },
  });
  const environment: WorkerEnvironment = {
    store,
    logger,
    telemetry,
    clock: realClock,
    timers: nodeTimers,
    random: realRandom,
    wakeUp: createWakeUp(settings, { logger, telemetry }),
    workerName: settings.workerName,
    build: settings.build ?? resolveBuild(),
  };
  const registry = createRegistry([...tasks, ...builtInTasks(settings)]);
  const heartbeat = new Heartbeat(environment);
  const client = new TaskClient(environment, registry);
  return {
    settings,
    environment,
    registry,
    heartbeat,
    client,
    admin: createAdmin({
      store,
      wakeUp: environment.wakeUp,
      random: realRandom,
      build: environment.build,
      currentTraceParent: () => telemetry.currentTraceParent(),
      completeTasks: (definition, rows) => completeTasks(registry, definition, rows),
    }),
    worker: {
      environment,
      registry,
      heartbeat,
      concurrencyPerWorker: settings.concurrencyPerWorker,
      idleReads: settings.idleReads,
      idlePauseMs: settings.idlePauseMs,
    },
    stay: () => ({
      deadlineMs: realClock.monotonicMs() + settings.functionTimeoutMs,
      marginMs: settings.deadlineMarginMs,
      signal: ending.signal,
    }),
  };
}

function addressOf({ database, schema }: Settings): DatabaseAddress {
  return {
    ...(database.kind === "url" ? { url: database.url } : { identity: database }),
    schema,
  };
}

function createWakeUp(
  settings: Settings,
  services: Pick<WorkerEnvironment, "logger" | "telemetry">,
): WakeUp {
  if (settings.storage === null) return noWakeUp;
  const queue = createHintQueue(settings.storage, settings.hintQueue);
  return createStorageQueueWakeUp({ queue, clock: realClock, timers: nodeTimers, ...services });
}
