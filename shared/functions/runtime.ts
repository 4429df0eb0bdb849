import { extname, join } from "node:path";
import { StoreUnavailableError } from "../core/errors";
import type { Admin } from "../admin/create-admin";
import { AppHints } from "../platform/app-hints";
import { resolveBuild } from "../platform/build-info";
import { exitProcess } from "../platform/exit-process";
import { nodeTimers } from "../platform/node-timers";
import { FreeTokenHints } from "../platform/free-token-hints";
import { NotifyingWakeUp } from "../platform/notifying-wake-up";
import { processEnds, writeErrorNow } from "../platform/process-ends";
import { processRejections } from "../platform/process-rejections";
import { realClock, realRandom, sleep, within } from "../platform/real-clock";
import { ThreadLeaseKeeper } from "../platform/thread-lease-keeper";
import type { TaskStore } from "../ports/task-store";
import type { Settings } from "../settings/settings";
import { openStore } from "../store/open-store";
import type { DatabaseAddress } from "../store/open-store";
import { TaskClient } from "../worker/client/client";
import type { WorkerEnvironment } from "../worker/environment";
import { Heartbeat } from "../worker/run/heartbeat";
import { IdleExecutions } from "../worker/run/idle-executions";
import { InvocationWork } from "../worker/run/invocation-work";
import { OwnApp } from "../worker/client/own-app";
import { KnownLimits } from "../worker/run/known-limits";
import { LimitPools } from "../worker/run/limit-pools";
import { watchEndsByTasks } from "../worker/run/ended-by-task";
import { watchLateRejections } from "../worker/run/late-rejections";
import { ProcessLeave } from "../worker/run/leave-process";
import { ProcessGate } from "../worker/run/process-gate";
import type { Registry } from "../worker/define/registry";
import type { ExecutionBounds, WorkerOptions } from "../worker/run/run-worker";
import type { AppParts } from "./app-parts";
import type { LeaseRenewer } from "./lease-renewer";
import { createAppAdmin } from "./app-admin";
import { LimitedTasks } from "./limited-tasks";
import { openAddressed } from "./bad-address";
import { Invocations, untilEnd, untilIdle } from "./invocations";
import { AppServices } from "./services";
import type { Services } from "./services";
import { StoreEntrance } from "./store-entrance";

/**
 * What works with the database, over the services that don't. Built at the first invocation and once per process. Not at
 * load: on Azure the environment is put in place after the worker has started.
 */
export interface Runtime {
  readonly settings: Settings;
  readonly environment: WorkerEnvironment;
  readonly registry: Registry;
  readonly heartbeat: Heartbeat;
  readonly client: TaskClient;
  /** What functions hold of limits without tasks. */
  readonly tokens: LimitPools;
  readonly admin: Admin;
  readonly worker: WorkerOptions;
  /** Ends this process when a handler is stuck, if the settings say so. */
  readonly leave: ProcessLeave;
  /** What an invocation makes ready and works on itself, within these bounds. */
  work(bounds: ExecutionBounds): InvocationWork;
  /** Of an invocation that begins now: it ends shortly before the host would kill the whole process. */
  bounds(): ExecutionBounds;
}

/** The runtime, and what its invocations pass before they ask the database. */
interface Opened {
  readonly runtime: Runtime;
  readonly entrance: StoreEntrance;
}

/** How long an invocation that is told to end may still ask the database; then it puts back what it holds. */
const bodyGraceMs = 2_200;
/** How long the end may take: the host kills the process 5 s after it asked (functions-runtime: WorkerTerminate). */
const endMs = 3_000;
/** For sending telemetry and for closing connections, side by side. */
const closeMs = 500;
/** The host gets the last answers only when the process lives a little longer. */
const lingerMs = 100;

/** Those whose database is open: a process that leaves ends them all. */
const openApps = new Set<AppProcess>();

/** One app in this process: its services, its runtime, its end. */
export class AppProcess {
  readonly app: AppParts;
  /** Messages of limited functions, as tasks. */
  readonly limitedTasks: LimitedTasks;
  /** Of its functions, as they were wrapped. */
  readonly knownLimits = new KnownLimits();
  readonly invocations = new Invocations();
  readonly #services: AppServices;
  #opened: Opened | null = null;
  #isClosed = false;

  constructor(app: AppParts) {
    this.app = app;
    this.limitedTasks = new LimitedTasks(app.tasks);
    this.#services = new AppServices(app, this.limitedTasks);
  }

  /** What works without the database. Throws SettingsError. */
  services(): Promise<Services> {
    return this.#services.get();
  }

  /**
   * The runtime, when the database is there and its schema fits. While the database is away one invocation asks for all,
   * and the others get StoreUnavailableError at once. A schema that doesn't fit is told for 10 s without asking again. An
   * app that is told to end waits no longer.
   */
  async runtime(): Promise<Runtime> {
    const services = await this.services();
    if (this.#isClosed) throw hasEnded();
    this.#opened ??= openAddressed(services.settings.database, () => this.#open(services));
    const { runtime, entrance } = this.#opened;
    const { ending } = this.invocations;
    await untilEnd(entrance.pass(), { ending, graceMs: 0, toError: hasEnded });
    return runtime;
  }

  /** Runs an invocation, or the part of it that needs the database, so that `end` waits for it. */
  tracked<Result>(body: (runtime: Runtime) => Promise<Result>): Promise<Result> {
    return this.invocations.counted(async () => {
      const runtime = await this.runtime();
      const work = this.invocations.counted(() => body(runtime));
      return untilEnd(work, { ending: this.invocations.ending, graceMs: bodyGraceMs });
    });
  }

  /**
   * Gives back held tokens and tasks and closes the connections, in 3.6 s at most, also when a call hangs. For `app.hook.appTerminate`.
   * `last` may use the database after the last invocation; it gets 0.5 s.
   */
  async end(last?: () => Promise<void>): Promise<void> {
    const tokens = this.#opened?.runtime.tokens;
    // Invocations that wait for tokens end at once; what bodies give back meanwhile goes with the second call.
    void tokens?.stop();
    await this.invocations.end(endMs);
    await within(closeMs, Promise.all([last?.(), tokens?.stop()]));
    this.#isClosed = true;
    openApps.delete(this);
    const services = await this.#services.built();
    if (services === null) return;
    this.#opened?.runtime.heartbeat.stop();
    const closed = this.#opened?.runtime.environment.store.close().catch(() => undefined);
    await Promise.all([
      services.telemetry.flush(closeMs),
      within(closeMs, closed ?? Promise.resolve()),
    ]);
    await sleep(lingerMs);
  }

  #open(services: Services): Opened {
    openApps.add(this);
    return open(services, {
      knownLimits: this.knownLimits,
      ending: this.invocations.ending,
      leave: async (last) => {
        const others = [...openApps].filter((other) => other !== this);
        await Promise.all([this.end(last), ...others.map((other) => other.end())]);
      },
    });
  }
}

const hasEnded = (): Error =>
  new StoreUnavailableError("The app ends in this process, or has ended: nothing was sent");

/** What an app has before its database, and its end. */
interface AppState {
  readonly knownLimits: KnownLimits;
  readonly ending: AbortSignal;
  /** Ends all apps of this process; `last` as of `AppProcess.end`. */
  leave(last: () => Promise<void>): Promise<void>;
}

function open(services: Services, { knownLimits, ending, leave: close }: AppState): Opened {
  const { settings, logger, registry } = services;
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
  const environment = environmentOf(services, store);
  watchLateRejections(processRejections, logger);
  watchEndsByTasks(processEnds, writeErrorNow);
  const heartbeat = new Heartbeat(environment);
  const leave = new ProcessLeave({
    environment,
    whenStuck: settings.whenStuck,
    drained: untilIdle,
    close,
    exit: exitProcess,
  });
  const onTrouble = (definition: string, reason: string): void => {
    logger.warn("tasks could not be run in the invocation that made them ready", {
      definition,
      reason,
    });
  };
  const worker: WorkerOptions = {
    environment,
    registry,
    heartbeat,
    concurrencyPerWorker: settings.concurrencyPerWorker,
    idleReads: settings.idleReads,
    idlePauseMs: settings.idlePauseMs,
    stuck: leave,
    gate: new ProcessGate(environment),
  };
  const idle = new IdleExecutions();
  const runtime: Runtime = {
    settings,
    environment,
    registry,
    heartbeat,
    client: new TaskClient(environment, registry),
    tokens: new LimitPools(environment, heartbeat, knownLimits),
    admin: createAppAdmin(environment, registry, settings.traceUrl),
    worker,
    work: (bounds) =>
      new InvocationWork({ worker, bounds, idle, servesOthers: settings.worksAtOnce, onTrouble }),
    leave,
    bounds: () => ({
      deadlineMs: realClock.monotonicMs() + settings.functionTimeoutMs,
      marginMs: settings.deadlineMarginMs,
      signal: ending,
      draining: leave.draining,
    }),
  };
  return { runtime, entrance };
}

/** What workers need from outside. */
function environmentOf(services: Services, store: TaskStore): WorkerEnvironment {
  const { settings, logger, telemetry, registry, app, wakeUp, address } = services;
  const leaseKeeper = new ThreadLeaseKeeper({
    file: join(__dirname, `lease-renewer${extname(__filename)}`),
    program: {
      address: addressOf(settings),
      endsHung: settings.whenStuck === "exit",
    } satisfies LeaseRenewer,
    clock: realClock,
    logger,
  });
  const { sweepSchedule, storage } = settings;
  const hints = new AppHints({
    own: { wakeUp, address, sweepSchedule, isReached: () => storage !== null },
    isOwn: (definition) => registry.definition(definition) !== null,
    storage,
    store,
    clock: realClock,
    timers: nodeTimers,
    logger,
    telemetry,
  });
  const timed = { clock: realClock, timers: nodeTimers, store: () => store };
  const free = storage === null ? null : new FreeTokenHints({ ...timed, hints });
  return {
    store,
    ...(settings.connectionsMax > 1 ? { leaseKeeper } : {}),
    logger,
    telemetry,
    clock: realClock,
    timers: nodeTimers,
    random: realRandom,
    wakeUp: new NotifyingWakeUp({
      hints: free ?? hints,
      store: () => store,
      clock: realClock,
      timers: nodeTimers,
    }),
    startsWithinMs: async (definition) => {
      // The first hint tells whether the queue of another app is reached.
      if (registry.definition(definition) === null) await free?.settledOnce(definition);
      return hints.startsWithinMs(definition);
    },
    ...(app === null ? {} : { app: new OwnApp(app, { store, clock: realClock }) }),
    workerName: settings.workerName,
    build: settings.build ?? resolveBuild(),
  };
}

/** One of what the process may open is the lease thread's; where there is no more than one, there is no such thread. */
function ownConnections({ connectionsMax }: Settings): number {
  return Math.max(connectionsMax - 1, 1);
}

/** The database that the settings name. */
export function addressOf({ database, schema }: Settings): DatabaseAddress {
  return {
    ...(database.kind === "url" ? { url: database.url } : { identity: database }),
    schema,
  };
}
