/**
 * One run of `taskgate dev`: database, queues, hosts, landing folder, in this order, and their end in the other. It only
 * builds and wires. The views decide about the output, the progress reader about the end.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAdmin } from "../admin/create-admin";
import type { Admin } from "../admin/create-admin";
import { resolveBuild } from "../platform/build-info";
import { nodeTimers } from "../platform/node-timers";
import { realRandom, sleep } from "../platform/real-clock";
import { noWakeUp } from "../platform/storage-queue-wake-up";
import type { TaskStore } from "../ports/task-store";
import { migrateStore, openStore } from "../store/open-store";
import { readMessageEncoding } from "../settings/queue-address";
import { Breakage } from "./breakage";
import { startEmbeddedPostgres } from "./embedded-postgres";
import { openEventQueue } from "./event-queue";
import type { EventQueue } from "./event-queue";
import { isPortFree, LOCAL_HOST } from "./free-port";
import { lockHome } from "./home-lock";
import { LandingFolder } from "./landing-folder";
import { readLocalSettings } from "./local-app";
import type { LocalApp } from "./local-app";
import { requireLocalPackages } from "./local-packages";
import { LocalLog } from "./local-log";
import { LocalWorkers } from "./local-workers";
import { makeFolder } from "./make-folder";
import { blameOwnDatabase, ownDatabase } from "./own-database";
import { readRunState, removeLocalRun, writeLocalRun, writeRunState } from "./run-files";
import type { RunState } from "./run-files";
import type { RunPlan } from "./run-plan";
import { startQueues } from "./run-queues";
import type { RunQueues } from "./run-queues";
import type { LocalSample } from "./sample";
import { showStep } from "./steps";
import type { WorkerState } from "./worker-hosts";
import { queueNames, workerSettings } from "./worker-settings";
import type { WorkerPlaces } from "./worker-settings";

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
  readonly app: LocalApp;
  /** The database in use, with its password; null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** Where the queues are, for people. */
  readonly queuesTitle: string;
  /** Address of the dashboard; null: no function of the app serves one. */
  pageUrl(): string | null;
  readonly beginning: Beginning;
  /** How often the workers were started again because the app was built anew. */
  restarts(): number;
  /** The workers at this moment; one that ends by itself is started again. */
  workers(): WorkerState[];
  /** Timers whose last run failed, such as the sweep, with the message of its error. */
  failingTimers(): ReadonlyMap<string, string>;
  /** Settles with a sentence when a part of the run that isn't started again ends by itself. */
  readonly broken: Promise<string>;
  /** Leaves the mark by which the next start knows whether this run came to its end. */
  mark(state: RunState): Promise<void>;
}

/** Starts everything. Throws an Error with a sentence for people; services started by then are in `teardown`. */
export async function startLocalRun(plan: RunPlan): Promise<LocalRun> {
  const { app, options, teardown, sample } = plan;
  const folder = join(options.home, ".taskgate");
  await makeFolder(folder, "Choose another folder with --home.");
  const lock = await lockHome(folder);
  teardown.add("the lock of the folder", () => lock.release());
  const databaseUrl = options.databaseUrl ?? ownDatabase(app);
  requireLocalPackages({ postgres: databaseUrl === null });
  await writeIgnoreFile(folder);
  // Without hosts another one may have it, such as `func start`.
  if (options.hosts > 0 && !(await isPortFree(options.port)))
    throw new Error(portInUse(options.port));
  const log = new LocalLog(join(folder, "local.log"));
  teardown.add("the log", () => log.close());
  const broken = new Breakage();
  const emulator = beginQueues(plan);
  const database = await openDatabase(plan, { databaseUrl, folder, broken });
  const store = await showStep(plan, "Migrating the schema", () => prepareDatabase(plan, database));
  const queues = await showStep(plan, "Starting the queues", () => emulator);
  broken.watch("The queue emulator", queues.exited);
  const places: WorkerPlaces = {
    databaseUrl: database.url,
    queueConnection: queues.connectionString,
    hosts: options.hosts,
    hasSample: sample !== null,
  };
  const queue = await openQueues(plan, places);
  plan.signal.throwIfAborted();
  const mark = createMark(folder, database.beginning);
  await mark("running");
  const workers = new LocalWorkers(plan, { places, log, broken });
  await workers.start();
  const admin = createAdmin({
    store,
    wakeUp: noWakeUp,
    random: realRandom,
    timers: nodeTimers,
    build: resolveBuild({ build: null }),
  });
  await setLimit(plan, admin);
  await writeLocalRun(folder, {
    databaseUrl: database.url,
    queueConnection: queues.connectionString,
    url: `http://${LOCAL_HOST}:${String(options.port)}`,
    pid: process.pid,
  });
  teardown.add("the note of this run", () => removeLocalRun(folder));
  const landing = sample === null ? null : await openLanding(plan, sample, queue);
  return {
    app,
    sample,
    store,
    admin,
    queue,
    landing,
    log,
    databaseUrl,
    queuesTitle: queues.title,
    beginning: database.beginning,
    pageUrl: () => workers.pageUrl(),
    restarts: () => workers.restarts,
    workers: () => workers.states(),
    failingTimers: () => workers.failingTimers(),
    broken: broken.told,
    mark,
  };
}

/** Starts the queue emulator beside the database: each takes about as long as the other. */
function beginQueues(plan: RunPlan): Promise<RunQueues> {
  const emulator = startQueues(plan);
  // Its error is told by the step that waits for it.
  emulator.catch(() => undefined);
  plan.teardown.add("the queue emulator", () =>
    emulator.then(
      (queues) => queues.stop(),
      () => undefined,
    ),
  );
  return emulator;
}

function openQueues({ app }: RunPlan, places: WorkerPlaces): Promise<EventQueue> {
  const { hints, ingest } = queueNames(workerSettings(places, readLocalSettings(app.root)));
  return openEventQueue(places.queueConnection, {
    name: ingest,
    others: [hints],
    encoding: readMessageEncoding(app.root),
  });
}

/** A user's database gets no mark: nothing in it is ever removed, so there is nothing to decide at the next start. */
function createMark(folder: string, beginning: Beginning): LocalRun["mark"] {
  if (beginning === "shared") return () => Promise.resolve();
  return (state) => writeRunState(folder, state);
}

interface Database {
  readonly url: string;
  readonly beginning: Beginning;
}

interface DatabasePlace {
  readonly databaseUrl: string | null;
  readonly folder: string;
  readonly broken: Breakage;
}

async function openDatabase(plan: RunPlan, place: DatabasePlace): Promise<Database> {
  const { databaseUrl, folder, broken } = place;
  const { keepsData, isFast } = plan.options;
  if (databaseUrl !== null) return { url: databaseUrl, beginning: "shared" };
  const isInterrupted = (await readRunState(folder)) === "running";
  const beginning = isInterrupted ? "resumes" : keepsData ? "keeps" : "afresh";
  const server = await showStep(plan, "Starting PostgreSQL", () =>
    startEmbeddedPostgres({ dataDir: join(folder, "postgres"), keep: true, fast: isFast }),
  );
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
  await migrateStore({ url }).catch((error: unknown) => {
    const isNamedByFile = database.beginning === "shared" && plan.options.databaseUrl === null;
    throw isNamedByFile ? blameOwnDatabase(error) : error;
  });
  if (sample === null) return store; // a worker's first sweep registers what the app has
  await store.transaction((transaction) => sample.setUp(transaction));
  const build = resolveBuild({ build: null });
  for (const { name, settings, settingsHash } of sample.definitions) {
    await store.registerDefinition({
      name,
      settings,
      settingsHash,
      build,
      registeredBy: "taskgate dev",
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
    changedBy: "taskgate dev --limit",
  });
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

/** Nothing of a run belongs into a repository: it holds data, passwords and keys. */
async function writeIgnoreFile(folder: string): Promise<void> {
  await writeFile(join(folder, ".gitignore"), "*\n");
}

function portInUse(port: number): string {
  return `Port ${String(port)} on ${LOCAL_HOST} is in use by another program. End that one, or choose another port with --port ${String(port === 65_535 ? 7_072 : port + 1)}`;
}
