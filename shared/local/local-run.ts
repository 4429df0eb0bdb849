/**
 * One run of `npm start`: database, queues, hosts, landing folder, in this order, and their end in the other. It only
 * builds and wires: what is shown is the views' matter, when it is done the progress reader's.
 */
import { join } from "node:path";
import { createAdmin } from "../admin/create-admin";
import type { Admin } from "../admin/create-admin";
import { resolveBuild } from "../platform/build-info";
import { realClock, realRandom, sleep } from "../platform/real-clock";
import { noWakeUp } from "../platform/storage-queue-wake-up";
import type { TaskStore } from "../ports/task-store";
import { migrateStore, openStore } from "../store/open-store";
import { startAzurite } from "./azurite";
import { startEmbeddedPostgres } from "./embedded-postgres";
import { openEventQueue } from "./event-queue";
import type { EventQueue } from "./event-queue";
import { isPortFree, LOCAL_HOST } from "./free-port";
import type { AppSettings } from "./functions-host/app-settings";
import { lockHome } from "./home-lock";
import { startHostChild } from "./host-children";
import { LandingFolder } from "./landing-folder";
import { openLocalLog } from "./local-log";
import type { LocalLog } from "./local-log";
import { makeFolder } from "./make-folder";
import { readRunState, removeLocalRun, writeLocalRun, writeRunState } from "./run-files";
import type { RunState } from "./run-files";
import type { LocalSample } from "./sample";
import type { StartOptions } from "./start-options";
import type { Teardown } from "./teardown";
import { describeEnd, WorkerHosts } from "./worker-hosts";
import type { WorkerState } from "./worker-hosts";

/** What a run is made of. */
export interface RunPlan {
  readonly options: StartOptions;
  /** The folder with host.json and package.json. */
  readonly appRoot: string;
  /** Null: the app runs without one. */
  readonly sample: LocalSample | null;
  /** Gets the end of everything that is started. */
  readonly teardown: Teardown;
  /** Aborted: start nothing more. */
  readonly signal: AbortSignal;
  /** Tells people what is going on. */
  readonly say: (line: string) => void;
}

/** How a run begins. */
export type Beginning = "afresh" | "resumes" | "keeps" | "shared";

/** A run that works. */
export interface LocalRun {
  /** Null: the app runs without one; it has no end of its own then. */
  readonly sample: LocalSample | null;
  readonly store: TaskStore;
  readonly admin: Admin;
  readonly queue: EventQueue;
  /** Null without a sample, which says which files it takes. */
  readonly landing: LandingFolder | null;
  readonly log: LocalLog;
  /** `http://127.0.0.1:7071` */
  readonly url: string;
  readonly beginning: Beginning;
  /** The workers at this moment; one that ends by itself is started again. */
  workers(): WorkerState[];
  /** Settles with a sentence when a part of the run that isn't started again ends by itself. */
  readonly broken: Promise<string>;
  /** Leaves the mark by which the next start knows whether this run came to its end. */
  mark(state: RunState["state"]): Promise<void>;
}

/** Names of the queues, as the settings of the hosts say. */
const ingestQueue = "taskgate-ingest";
const hintQueue = "taskgate-hints";
const sweepSchedule = "*/2 * * * * *";
/** A worker and its handlers each want one: eight handlers of add-totals, and the calls of a few workers. */
const hostConnectionsMax = 12;
const tokensPerWorker = 8;
/** Before a worker that ended by itself is started again: long enough to be seen. */
const restartPauseMs = 1_000;
/** Limit that `--hosts` spreads over. */
const spreadLimit = 4;

/** Starts everything. Throws an Error with a sentence for people; what was started by then is in `teardown`. */
export async function startLocalRun(plan: RunPlan): Promise<LocalRun> {
  const { options, teardown, sample, say } = plan;
  const folder = join(options.home, ".taskgate");
  await makeFolder(folder, "Choose another folder with --home.");
  const lock = await lockHome(folder);
  teardown.add("the lock of the folder", () => lock.release());
  if (!(await isPortFree(options.port))) throw new Error(portInUse(options.port));
  const log = openLocalLog(join(folder, "local.log"));
  teardown.add("the log", () => log.close());
  const broken = new Breakage();
  if (options.databaseUrl === null) say("Starting PostgreSQL ..");
  const database = await openDatabase(plan, folder, broken);
  say("Migrating the schema ..");
  const store = await prepareDatabase(plan, database);
  say("Starting the queues ..");
  const azurite = await startAzurite();
  teardown.add("the queue emulator", () => azurite.stop());
  broken.watch("The queue emulator", azurite.exited);
  const queueConnection = azurite.connectionString;
  const queue = await openEventQueue(queueConnection, { name: ingestQueue, others: [hintQueue] });
  plan.signal.throwIfAborted();
  const mark = createMark(folder, database.beginning);
  await mark("running");
  const env = appSettings(options, { databaseUrl: database.url, queueConnection });
  say(`Starting ${options.hosts === 1 ? "a worker" : `${String(options.hosts)} workers`} ..`);
  const workers = await startWorkers(plan, { env, log, broken });
  const url = `http://${LOCAL_HOST}:${String(options.port)}`;
  const admin = createAdmin({
    store,
    wakeUp: noWakeUp,
    random: realRandom,
    build: resolveBuild({ build: null }),
  });
  await setLimit(plan, admin);
  await writeLocalRun(folder, {
    databaseUrl: database.url,
    queueConnection,
    url,
    pid: process.pid,
  });
  teardown.add("the note of this run", () => removeLocalRun(folder));
  const landing = sample === null ? null : await openLanding(plan, sample, queue);
  return {
    sample,
    store,
    admin,
    queue,
    landing,
    log,
    url,
    beginning: database.beginning,
    workers: () => workers.states(),
    broken: broken.told,
    mark,
  };
}

/** A user's database gets no mark: nothing in it is ever removed, so there is nothing to decide at the next start. */
function createMark(folder: string, beginning: Beginning): LocalRun["mark"] {
  const startedAt = new Date(realClock.nowMs()).toISOString();
  if (beginning === "shared") return () => Promise.resolve();
  return (state) => writeRunState(folder, { state, startedAt });
}

interface Database {
  readonly url: string;
  readonly beginning: Beginning;
}

async function openDatabase(plan: RunPlan, folder: string, broken: Breakage): Promise<Database> {
  const { databaseUrl, keepsData, isFast } = plan.options;
  if (databaseUrl !== null) return { url: databaseUrl, beginning: "shared" };
  const isInterrupted = (await readRunState(folder))?.state === "running";
  const beginning = isInterrupted ? "resumes" : keepsData ? "keeps" : "afresh";
  const server = await startEmbeddedPostgres({
    dataDir: join(folder, "postgres"),
    keep: true,
    fast: isFast,
  });
  plan.teardown.add("PostgreSQL", () => server.stop());
  broken.watch("PostgreSQL", server.exited);
  return { url: server.url, beginning };
}

/** Empty if the run begins afresh, then migrated, with the sample's tables and every definition registered. */
async function prepareDatabase(plan: RunPlan, database: Database): Promise<TaskStore> {
  const { sample, signal, teardown } = plan;
  const { url } = database;
  signal.throwIfAborted();
  const store = openStore({ url, connectionsMax: 3, random: realRandom, sleep });
  teardown.add("the connections to the database", () => store.close());
  if (database.beginning === "afresh") {
    await store.transaction(async (transaction) => {
      await transaction.query("drop schema if exists taskgate cascade");
      await sample?.tearDown(transaction);
    });
  }
  await migrateStore({ url });
  if (sample === null) return store; // a worker's first sweep registers what the app has
  await store.transaction((transaction) => sample.setUp(transaction));
  const build = resolveBuild({ build: null });
  for (const { name, settings, settingsHash } of sample.definitions) {
    await store.registerDefinition({
      name,
      settings,
      settingsHash,
      build,
      registeredBy: "npm start",
    });
  }
  return store;
}

async function setLimit({ options, sample }: RunPlan, admin: Admin): Promise<void> {
  const { limit } = options;
  if (limit === null || sample === null) return;
  await admin.setLimit({
    definition: sample.pacedDefinition,
    limit,
    changedBy: "npm start --limit",
  });
}

interface Hosting {
  readonly env: AppSettings;
  readonly log: LocalLog;
  readonly broken: Breakage;
}

/** Starts the workers, the first of them on the wanted port and with the timers. */
async function startWorkers(plan: RunPlan, { env, log, broken }: Hosting): Promise<WorkerHosts> {
  const { options, appRoot, teardown } = plan;
  const names = Array.from({ length: options.hosts }, (_, index) => `local-${String(index + 1)}`);
  const workers = new WorkerHosts({
    names,
    start: (name) => {
      const isFirst = name === names[0];
      const settings = { appRoot, port: isFirst ? options.port : 0, runsTimers: isFirst };
      return startHostChild(
        { ...settings, env: { ...env, TASKGATE_WORKER_NAME: name } },
        (line) => {
          log.add(options.hosts === 1 ? line : `[${name}] ${line}`);
        },
      );
    },
    onEnd: (worker) => {
      log.add(describeEnd(worker));
    },
    onGivenUp: (name, lastWords) => {
      broken.tell(`Worker ${name}`, `again and again: ${lastWords}`);
    },
    nowMs: realClock.monotonicMs,
    pauseMs: restartPauseMs,
  });
  teardown.add("the workers", () => workers.stop());
  await workers.start();
  plan.signal.throwIfAborted();
  return workers;
}

/** The settings of the app, as they stand on Azure, over what the user has set for other things. */
function appSettings(
  options: StartOptions,
  places: { databaseUrl: string; queueConnection: string },
): AppSettings {
  const isOwn = (name: string) => /^(TASKGATE_|AzureWebJobs)/.test(name);
  const others = Object.entries(process.env).filter(([name]) => !isOwn(name));
  const perWorker = options.hosts === 1 ? tokensPerWorker : Math.ceil(spreadLimit / options.hosts);
  return {
    ...Object.fromEntries(others),
    NODE_OPTIONS: undefined,
    TASKGATE_DATABASE_URL: places.databaseUrl,
    AzureWebJobsStorage: places.queueConnection,
    // A few processes stand for many instances: every definition finds a place for its workers at the same time.
    AzureFunctionsJobHost__extensions__queues__batchSize: options.hosts === 1 ? "8" : "3",
    AzureFunctionsJobHost__extensions__queues__newBatchThreshold: "3",
    TASKGATE_HINT_QUEUE: hintQueue,
    TASKGATE_INGEST_QUEUE: ingestQueue,
    TASKGATE_SWEEP_SCHEDULE: sweepSchedule,
    TASKGATE_CONNECTIONS_MAX: String(hostConnectionsMax),
    TASKGATE_CONCURRENCY_PER_WORKER: String(perWorker),
    TASKGATE_LOG_LEVEL: process.env["TASKGATE_LOG_LEVEL"] ?? "info",
  };
}

async function openLanding(
  { options, teardown, say }: RunPlan,
  sample: LocalSample,
  queue: EventQueue,
): Promise<LandingFolder> {
  const landing = new LandingFolder({
    folder: join(options.home, "landing"),
    accepts: (name) => sample.accepts(name),
    onEvent: (event) => queue.send(event),
    onProblem: say,
  });
  await landing.place(await sample.files());
  teardown.add("the landing folder", () => landing.stop());
  await landing.start();
  return landing;
}

/** Tells the first part that ends by itself. */
class Breakage {
  readonly told: Promise<string>;
  #tell: (sentence: string) => void = () => undefined;

  constructor() {
    this.told = new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  watch(name: string, exited: Promise<string>): void {
    void exited.then((lastWords) => {
      this.tell(name, lastWords);
    });
  }

  tell(name: string, lastWords: string): void {
    const words = lastWords.trim().split("\n").slice(-3).join(" ");
    this.#tell(`${name} ended by itself${words === "" ? "" : `: ${words}`}.`);
  }
}

function portInUse(port: number): string {
  return `Port ${String(port)} on ${LOCAL_HOST} is in use by another program. End that one, or choose another port: npm start -- --port ${String(port === 65_535 ? 7_072 : port + 1)}`;
}
