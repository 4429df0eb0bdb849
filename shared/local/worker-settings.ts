import type { AppSettings } from "./functions-host/app-settings";

/** The settings of the workers of a local run, as they stand on Azure. */

/** What the run itself decides. */
export interface WorkerPlaces {
  readonly databaseUrl: string;
  /** The connection string of the run's own queues. */
  readonly queueConnection: string;
  readonly hosts: number;
  /** The sample spreads over all hosts. */
  readonly hasSample: boolean;
}

/** The names of the queues: those of the app, or the defaults. */
export interface QueueNames {
  readonly hints: string;
  readonly ingest: string;
}

/** A worker and its handlers each want one: eight handlers of add-totals, and the calls of a few workers. */
const hostConnectionsMax = 12;
const tokensPerWorker = 8;
/** Limit that `--hosts` spreads over. */
const spreadLimit = 4;

/** Settings that the app may replace. */
function defaultsFor({ hosts, hasSample }: WorkerPlaces): AppSettings {
  const perWorker = hosts === 1 ? tokensPerWorker : Math.ceil(spreadLimit / Math.max(1, hosts));
  return {
    TASKGATE_HINT_QUEUE: "taskgate-hints",
    TASKGATE_INGEST_QUEUE: "taskgate-ingest",
    TASKGATE_SWEEP_SCHEDULE: "*/2 * * * * *",
    TASKGATE_CONNECTIONS_MAX: String(hostConnectionsMax),
    TASKGATE_LOG_LEVEL: process.env["TASKGATE_LOG_LEVEL"] ?? "info",
    TASKGATE_CONCURRENCY_PER_WORKER: String(hasSample ? perWorker : tokensPerWorker),
    // A few processes stand for many instances: every definition finds a place for its workers at the same time.
    ...(hasSample && hosts > 1
      ? {
          AzureFunctionsJobHost__extensions__queues__batchSize: "3",
          AzureFunctionsJobHost__extensions__queues__newBatchThreshold: "3",
        }
      : {}),
  };
}

/**
 * The environment of a worker. `own`: the values of the app's local.settings.json. They win over the defaults; the run
 * decides about the database and the queues. Of this process's environment, nothing that sets up Taskgate or a storage
 * account reaches the worker.
 */
export function workerSettings(places: WorkerPlaces, own: AppSettings): AppSettings {
  const isOurs = (name: string): boolean => /^(TASKGATE_|AzureWebJobs)/.test(name);
  const others = Object.entries(process.env).filter(([name]) => !isOurs(name));
  const emulated = Object.entries(own).filter(([, value]) => isEmulator(value));
  // An identity's settings would stand beside the connection string.
  const kept = Object.entries(own).filter(([name]) => !/^AzureWebJobsStorage(?:__|$)/.test(name));
  return {
    ...Object.fromEntries(others),
    NODE_OPTIONS: undefined,
    ...defaultsFor(places),
    ...Object.fromEntries(kept),
    ...Object.fromEntries(emulated.map(([name]) => [name, places.queueConnection])),
    AzureWebJobsStorage: places.queueConnection,
    TASKGATE_DATABASE_URL: places.databaseUrl,
    TASKGATE_SQL_SERVER: undefined,
    TASKGATE_SQL_DATABASE: undefined,
  };
}

/** Names of the queues that the workers listen to. */
export function queueNames(settings: AppSettings): QueueNames {
  return {
    hints: settings["TASKGATE_HINT_QUEUE"] ?? "",
    ingest: settings["TASKGATE_INGEST_QUEUE"] ?? "",
  };
}

/** Whether an app asks for an emulator there, on its usual ports. */
export function isEmulator(value: string | undefined): boolean {
  return /(?:^|;)\s*UseDevelopmentStorage=true\s*(?:;|$)/i.test(value ?? "");
}
