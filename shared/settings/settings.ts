/**
 * All settings of the product in one table: what `loadSettings` reads from the environment, and what
 * docs/reference/settings.md shows. May import shared/core only. All are read once, at the start of a process.
 */

import type { SettingEntry } from "./setting-formats";

const text = { default: null, min: 1, unit: "characters", isSecret: false } as const;
const onOff = { ...text, type: "choice", max: 3, choices: ["on", "off"] } as const;
const guid = { ...text, type: "guid", max: 36 } as const;
const integer = { type: "integer", isSecret: false } as const;

/** Every setting, in the order of the reference page. */
export const settingsTable = [
  {
    ...text,
    name: "TASKGATE_DATABASE_URL",
    type: "database-url",
    max: 2_000,
    isSecret: true,
    sentence:
      "Address of the database with user and password, postgres://.. or mssql://.., with TLS unless it is this machine; either this or TASKGATE_SQL_SERVER and TASKGATE_SQL_DATABASE, one of which is needed.",
  },
  {
    ...text,
    name: "TASKGATE_SQL_SERVER",
    type: "host",
    max: 253,
    sentence:
      "Host name of the Azure SQL server, signed in to with the Entra identity of the process, without a password; only together with TASKGATE_SQL_DATABASE.",
  },
  {
    ...text,
    name: "TASKGATE_SQL_DATABASE",
    type: "text",
    max: 128,
    sentence: "Name of the database on TASKGATE_SQL_SERVER; needed with it.",
  },
  {
    ...guid,
    name: "TASKGATE_SQL_CLIENT_ID",
    sentence:
      "Client id of the user-assigned identity for TASKGATE_SQL_SERVER; without it the identity of the system or of the developer (AZURE_TOKEN_CREDENTIALS).",
  },
  {
    ...text,
    name: "TASKGATE_SCHEMA",
    type: "schema",
    default: "taskgate",
    max: 63,
    sentence:
      "Schema that holds Taskgate's tables and procedures on PostgreSQL; on SQL Server it is always Taskgate, and only the default is taken.",
  },
  {
    ...text,
    name: "TASKGATE_SWEEP_SCHEDULE",
    type: "schedule",
    default: "*/30 * * * * *",
    max: 200,
    sentence:
      "When the sweep looks for work whose hint was lost: six fields (second, minute, hour, day, month, weekday), UTC.",
  },
  {
    ...integer,
    name: "TASKGATE_CONNECTIONS_MAX",
    default: 3,
    min: 1,
    max: 100,
    unit: "connections",
    sentence:
      "Most connections of one process to the database; where there are two or more, one of them is for renewing leases while a handler blocks the event loop. `taskgate work` has one more on PostgreSQL, for notifications.",
  },
  {
    ...integer,
    name: "TASKGATE_CALL_TIMEOUT_MS",
    default: 30_000,
    min: 1_000,
    max: 600_000,
    unit: "ms",
    sentence:
      "A try of a call to the database that has no answer after this long is given up. A call is tried six times: a silent database ends it in about six times this, by default in 110 s.",
  },
  {
    ...integer,
    name: "TASKGATE_CONCURRENCY_PER_WORKER",
    default: 8,
    min: 1,
    max: 1_000,
    unit: "tasks",
    sentence:
      "Most tasks that one invocation runs at the same time, also where the limit allows more.",
  },
  {
    ...integer,
    name: "TASKGATE_FUNCTION_TIMEOUT_MS",
    default: 600_000,
    min: 10_000,
    max: 86_400_000,
    unit: "ms",
    sentence:
      "Deadline of an invocation; must equal functionTimeout in host.json, which ends the whole process.",
  },
  {
    ...integer,
    name: "TASKGATE_DEADLINE_MARGIN_MS",
    default: 15_000,
    min: 1_000,
    max: 3_600_000,
    unit: "ms",
    sentence:
      "How long before its deadline an invocation starts no more tasks and gives back the rest; less than TASKGATE_FUNCTION_TIMEOUT_MS. At half of it the signals of running tasks are aborted.",
  },
  {
    ...integer,
    name: "TASKGATE_IDLE_READS",
    default: 2,
    min: 1,
    max: 1_000,
    unit: "reads",
    sentence: "A worker that finds no task so many times in a row ends.",
  },
  {
    ...integer,
    name: "TASKGATE_IDLE_PAUSE_MS",
    default: 200,
    min: 0,
    max: 60_000,
    unit: "ms",
    sentence: "How long a worker waits between two reads that find no task.",
  },
  {
    ...onOff,
    name: "TASKGATE_WORK_AT_ONCE",
    default: "on",
    sentence:
      "Whether an invocation of `run` or `ingest` runs tasks that it has made ready itself, as far as it has tokens and time; off: a hint wakes another invocation for them.",
  },
  {
    ...integer,
    name: "TASKGATE_BUILD",
    default: null,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    unit: "build",
    sentence:
      "Number of the build, greater with every release; without it the one that `npm run build` or `taskgate stamp` wrote, else 0.",
  },
  {
    ...text,
    name: "TASKGATE_WORKER_NAME",
    type: "text",
    max: 200,
    sentence:
      "How this process appears in lists of workers; without it WEBSITE_INSTANCE_ID or the host name, and the process id.",
  },
  {
    ...text,
    name: "TASKGATE_LOG_LEVEL",
    type: "choice",
    default: "info",
    max: 5,
    choices: ["debug", "info", "warn", "error"],
    sentence: "The least important lines that are logged.",
  },
  {
    ...text,
    name: "TASKGATE_TRACE_URL",
    type: "trace-url",
    max: 4_000,
    sentence:
      "Address of the page that shows a trace, with {trace} in place of its id; a task's page and `taskgate explain` link to it.",
  },
  {
    ...text,
    name: "TASKGATE_HINT_QUEUE",
    type: "queue-name",
    default: "taskgate-hints",
    min: 3,
    max: 63,
    sentence: "Storage queue of the hints that wake workers.",
  },
  {
    ...text,
    name: "TASKGATE_INGEST_QUEUE",
    type: "queue-name",
    default: "taskgate-ingest",
    min: 3,
    max: 63,
    sentence:
      "Storage queue of the events that become tasks; another one than TASKGATE_HINT_QUEUE.",
  },
  {
    ...onOff,
    name: "TASKGATE_OPERATOR_API",
    default: "on",
    sentence:
      "Whether the app has the HTTP routes that only an operator may call (limits, pauses, cancel, redrive and so on); reading and enqueueing stay.",
  },
  {
    ...text,
    name: "TASKGATE_API_SIGN_IN",
    type: "choice",
    default: "keys",
    max: 5,
    choices: ["keys", "entra"],
    sentence:
      "How callers of the HTTP API are known: by a function key, or by App Service's sign-in with Entra and the app roles Taskgate.Reader, Taskgate.Payloads and Taskgate.Operator; where that sign-in is off keys are wanted all the same.",
  },
  {
    ...text,
    name: "TASKGATE_WHEN_STUCK",
    type: "choice",
    default: "exit",
    max: 4,
    choices: ["exit", "stay"],
    sentence:
      "What a process does when a handler runs on for 5 s after its time-out: exit finishes what else runs and ends with exit code 75, so that the host starts it again; stay lets the handler run on beside its successor.",
  },
  {
    ...text,
    name: "TASKGATE_SQL_PROCEDURES",
    type: "procedures",
    max: 4_000,
    sentence:
      "Stored procedures that tasks of the built-in kind `sql` may call, each as schema.name, joined by commas; without it there is no such kind.",
  },
  {
    ...onOff,
    name: "TASKGATE_PROBE",
    default: "off",
    sentence:
      "Whether the app has the built-in kind taskgate-probe, which does nothing: `taskgate doctor --latency` measures with it.",
  },
  {
    ...text,
    name: "AzureWebJobsStorage",
    type: "storage-connection",
    max: 4_000,
    isSecret: true,
    sentence:
      "Connection string of the storage account of the queues; either this or AzureWebJobsStorage__queueServiceUri.",
  },
  {
    ...text,
    name: "AzureWebJobsStorage__queueServiceUri",
    type: "https-url",
    max: 500,
    sentence: "Address of the queues, reached with the Entra identity of the process.",
  },
  {
    ...text,
    name: "AzureWebJobsStorage__accountName",
    type: "account-name",
    min: 3,
    max: 24,
    sentence: "Name of the storage account; stands for its queueServiceUri in the public cloud.",
  },
  {
    ...text,
    name: "AzureWebJobsStorage__credential",
    type: "choice",
    max: 20,
    choices: ["managedidentity"],
    sentence: "How to sign in to AzureWebJobsStorage__queueServiceUri.",
  },
  {
    ...guid,
    name: "AzureWebJobsStorage__clientId",
    sentence: "Client id of the user-assigned identity for the queues.",
  },
  {
    ...text,
    name: "APPLICATIONINSIGHTS_CONNECTION_STRING",
    type: "insights-connection",
    max: 2_000,
    isSecret: true,
    sentence: "Where telemetry goes; without it none is collected.",
  },
  {
    ...text,
    name: "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
    type: "insights-authentication",
    max: 500,
    sentence:
      "Signs telemetry in with an identity: Authorization=AAD, with ClientId=.. for a user-assigned one.",
  },
  {
    ...text,
    name: "AZURE_RESOURCE_MANAGER_URL",
    type: "https-url",
    default: "https://management.azure.com",
    max: 500,
    sentence:
      "Address of Azure Resource Manager, for `taskgate migrate --open-firewall`; clouds of their own have another one.",
  },
] as const satisfies readonly SettingEntry[];

/** The name of a setting. */
export type SettingName = (typeof settingsTable)[number]["name"];

/** How to reach the database: an address with a password in it, or a server and the identity of this process. */
export type DatabaseSettings =
  | { readonly kind: "url"; readonly url: string }
  | {
      readonly kind: "identity";
      readonly server: string;
      readonly database: string;
      /** Of a user-assigned identity; null: the system's or the developer's. */
      readonly clientId: string | null;
    };

/** How to reach the storage queues. */
export type StorageSettings =
  | { readonly kind: "connection-string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly queueServiceUri: string;
      /** managedidentity: of the function app; default: the first credential that the process finds, also a developer's sign-in. */
      readonly credential: "managedidentity" | "default";
      /** Of a user-assigned identity; null: the system's. */
      readonly clientId: string | null;
    };

/** How callers of the HTTP API are known. */
export interface SignInSettings {
  readonly apiSignIn: "keys" | "entra";
  /** Does App Service check sign-ins before requests reach the app? The platform says so (WEBSITE_AUTH_ENABLED). */
  readonly hasPlatformSignIn: boolean;
}

/** Where telemetry goes and who sends it. */
export interface TelemetrySettings {
  readonly connectionString: string;
  /** True: sign in with an identity, as an app without local keys must. */
  readonly usesIdentity: boolean;
  readonly clientId: string | null;
}

/** The least important lines that are logged. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** All settings, complete, checked and frozen. */
export interface Settings {
  readonly database: DatabaseSettings;
  readonly schema: string;
  readonly sweepSchedule: string;
  readonly connectionsMax: number;
  readonly callTimeoutMs: number;
  readonly concurrencyPerWorker: number;
  /** What the built-in kind `sql` may call; empty: there is no such kind. */
  readonly sqlProcedures: readonly string[];
  readonly functionTimeoutMs: number;
  readonly deadlineMarginMs: number;
  readonly idleReads: number;
  readonly idlePauseMs: number;
  /** Does an invocation run tasks that it has made ready? */
  readonly worksAtOnce: boolean;
  /** Does the app have the kind that `doctor --latency` measures with? */
  readonly hasProbe: boolean;
  /** null: not set; shared/platform/build-info.ts knows the build then. */
  readonly build: number | null;
  readonly workerName: string;
  readonly logLevel: LogLevel;
  /** Has `{trace}` in place of a trace's id; null: no page is known. */
  readonly traceUrl: string | null;
  readonly hintQueue: string;
  readonly ingestQueue: string;
  /** Does the app have the HTTP routes of operators? */
  readonly operatorApi: boolean;
  readonly signIn: SignInSettings;
  readonly whenStuck: "exit" | "stay";
  /** null: no queue is known, hints are not sent, and the sweep alone finds work. */
  readonly storage: StorageSettings | null;
  /** null: no telemetry. */
  readonly telemetry: TelemetrySettings | null;
  /** Of Azure; without a slash at the end. */
  readonly resourceManagerUrl: string;
}
