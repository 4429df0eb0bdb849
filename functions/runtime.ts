import { extname, join } from "node:path";
import type { Admin } from "../shared/admin/create-admin";
import { resolveBuild } from "../shared/platform/build-info";
import { exitProcess } from "../shared/platform/exit-process";
import { nodeTimers } from "../shared/platform/node-timers";
import { processRejections } from "../shared/platform/process-rejections";
import { realClock, realRandom, sleep } from "../shared/platform/real-clock";
import { ThreadLeaseKeeper } from "../shared/platform/thread-lease-keeper";
import type { Settings } from "../shared/settings/settings";
import { openStore } from "../shared/store/open-store";
import type { DatabaseAddress } from "../shared/store/open-store";
import { TaskClient } from "../shared/worker/client";
import type { WorkerEnvironment } from "../shared/worker/environment";
import { Heartbeat } from "../shared/worker/heartbeat";
import { watchLateRejections } from "../shared/worker/late-rejections";
import { ProcessLeave } from "../shared/worker/leave-process";
import { ProcessGate } from "../shared/worker/process-gate";
import type { Registry } from "../shared/worker/registry";
import type { Stay, WorkerOptions } from "../shared/worker/run-worker";
import type { LeaseRenewer } from "./lease-renewer";
import { createAppAdmin } from "./app-admin";
import { openAddressed } from "./bad-address";
import { counted, endingSignal, endInvocations, untilEnd, untilIdle } from "./invocations";
import { builtServices, getServices } from "./services";
import type { Services } from "./services";
import { StoreEntrance } from "./store-entrance";

/**
 * The composition root of the functions: what works with the database, over the services that don't. Built at the first
 * invocation and once per process. Not at load: on Azure the environment is put in place after the worker has started.
 */
export interface Runtime {
  readonly settings: Settings;
  readonly environment: WorkerEnvironment;
  readonly registry: Registry;
  readonly heartbeat: Heartbeat;
  readonly client: TaskClient;
  readonly admin: Admin;
  readonly worker: WorkerOptions;
  /** Ends this process when a handler is stuck, if the settings say so. */
  readonly leave: ProcessLeave;
  /** One invocation's stay: until shortly before the host would kill the whole process. */
  stay(): Stay;
}

let opened: { readonly runtime: Runtime; readonly entrance: StoreEntrance } | null = null;

/**
 * The runtime of this process, when the database is there and its schema fits. While it is away one invocation asks for
 * all, and the others get StoreUnavailableError at once; a schema that doesn't fit is told for 10 s without asking again. A process that is told
 * to end waits no longer.
 */
export async function getRuntime(): Promise<Runtime> {
  const services = await getServices();
  opened ??= openAddressed(services.settings.database, () => open(services));
  const { runtime, entrance } = opened;
  await untilEnd(entrance.pass(), 0);
  return runtime;
}

/** How long an invocation that is told to end may still ask the database; then it puts back what it holds. */
const bodyGraceMs = 2_200;

/** Runs an invocation, or the part of it that needs the database, so that `endRuntime` waits for it. */
export function tracked<Result>(body: (runtime: Runtime) => Promise<Result>): Promise<Result> {
  return counted(async () => {
    const runtime = await getRuntime();
    const work = counted(() => body(runtime));
    return untilEnd(work, bodyGraceMs);
  });
}

/** How long the end may take: the host kills the process 5 s after it asked (functions-runtime: WorkerTerminate). */
const endMs = 3_000;
/** For sending telemetry and for closing connections, side by side. */
const closeMs = 500;
/** The host gets the last answers only when the process lives a little longer. */
const lingerMs = 100;

/**
 * Gives back what is held and closes the connections, in 3.6 s at most, whatever hangs. For `app.hook.appTerminate`.
 * `last` may use the database when no invocation does any more; it gets 0.5 s.
 */
export async function endRuntime(last?: () => Promise<void>): Promise<void> {
  await endInvocations(endMs);
  if (last !== undefined) await Promise.race([last(), sleep(closeMs)]);
  const services = await builtServices();
  if (services === null) return;
  const closed = opened?.runtime.environment.store.close().catch(() => undefined);
  await Promise.all([services.telemetry.flush(closeMs), Promise.race([closed, sleep(closeMs)])]);
  await sleep(lingerMs);
}

function open(services: Services): NonNullable<typeof opened> {
  const { settings, logger, telemetry, registry, wakeUp } = services;
  const address = addressOf(settings);
  const entrance = new StoreEntrance(address, logger);
  const store = openStore({
    ...address,
    connectionsMax: ownConnections(settings),
    callTimeoutMs: settings.callTimeoutMs,
    random: realRandom,
    sleep,
    breaker: entrance.breaker,
    onIdleError: (error) => {
      logger.warn("a connection broke while it was idle", { error: error.message });
    },
  });
  const leaseKeeper = new ThreadLeaseKeeper({
    file: join(__dirname, `lease-renewer${extname(__filename)}`),
    program: { address, endsHung: settings.whenStuck === "exit" } satisfies LeaseRenewer,
    clock: realClock,
    logger,
  });
  const environment: WorkerEnvironment = {
    store,
    ...(settings.connectionsMax > 1 ? { leaseKeeper } : {}),
    logger,
    telemetry,
    clock: realClock,
    timers: nodeTimers,
    random: realRandom,
    wakeUp,
    workerName: settings.workerName,
    build: settings.build ?? resolveBuild(),
  };
  watchLateRejections(processRejections, logger);
  const heartbeat = new Heartbeat(environment);
  const leave = new ProcessLeave({
    environment,
    whenStuck: settings.whenStuck,
    drained: untilIdle,
    close: endRuntime,
    exit: exitProcess,
  });
  const runtime: Runtime = {
    settings,
    environment,
    registry,
    heartbeat,
    client: new TaskClient(environment, registry),
    admin: createAppAdmin(environment, registry),
    worker: {
      environment,
      registry,
      heartbeat,
      concurrencyPerWorker: settings.concurrencyPerWorker,
      idleReads: settings.idleReads,
      idlePauseMs: settings.idlePauseMs,
      stuck: leave,
      gate: new ProcessGate(environment),
    },
    leave,
    stay: () => ({
      deadlineMs: realClock.monotonicMs() + settings.functionTimeoutMs,
      marginMs: settings.deadlineMarginMs,
      signal: endingSignal,
      draining: leave.draining,
    }),
  };
  return { runtime, entrance };
}

/** One of what the process may open is the lease thread's; where there is no more than one, there is no such thread. */
function ownConnections({ connectionsMax }: Settings): number {
  return Math.max(connectionsMax - 1, 1);
}

function addressOf({ database, schema }: Settings): DatabaseAddress {
  return {
    ...(database.kind === "url" ? { url: database.url } : { identity: database }),
    schema,
  };
}
