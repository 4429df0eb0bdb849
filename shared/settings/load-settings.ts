import { hostname } from "node:os";
import { SettingsError } from "../core/errors";
import { didYouMean } from "../core/near-name";
import { listOfProcedures } from "../core/procedure-name";
import { commandLineNames } from "./command-line-settings";
import { readIdentity } from "./queue-address";
import { describeExpected, isExpected } from "./setting-formats";
import type { SettingEntry } from "./setting-formats";
import { settingsTable } from "./settings";
import type {
  DatabaseSettings,
  LogLevel,
  SettingName,
  Settings,
  SignInSettings,
  StorageSettings,
  TelemetrySettings,
} from "./settings";

/**
 * Reads the environment: the only place of the product that does. Call it when the host has set the environment up,
 * which on Azure is when the app's modules are loaded, never earlier.
 */

/** Names and values of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process, as it is now. */
export function currentEnvironment(): Environment {
  return { ...process.env };
}

/**
 * The settings that `environment` describes: defaults where nothing is set (an empty text counts as not set), then
 * ranges, relations and unknown `TASKGATE_*` names checked; `TASKGATE_TEST_*` names belong to tests and are ignored.
 * The result is frozen. Throws SettingsError that lists all problems, each with name and the expected form; no
 * value of a setting is ever shown.
 */
export function loadSettings(environment: Environment = currentEnvironment()): Settings {
  const reader = new SettingsReader(environment);
  const settings: Settings = {
    database: readDatabase(reader),
    schema: reader.text("TASKGATE_SCHEMA"),
    sweepSchedule: reader.text("TASKGATE_SWEEP_SCHEDULE"),
    connectionsMax: reader.integer("TASKGATE_CONNECTIONS_MAX"),
    callTimeoutMs: reader.integer("TASKGATE_CALL_TIMEOUT_MS"),
    concurrencyPerWorker: reader.integer("TASKGATE_CONCURRENCY_PER_WORKER"),
    sqlProcedures: listOfProcedures(reader.text("TASKGATE_SQL_PROCEDURES")),
    functionTimeoutMs: reader.integer("TASKGATE_FUNCTION_TIMEOUT_MS"),
    deadlineMarginMs: reader.integer("TASKGATE_DEADLINE_MARGIN_MS"),
    idleReads: reader.integer("TASKGATE_IDLE_READS"),
    idlePauseMs: reader.integer("TASKGATE_IDLE_PAUSE_MS"),
    build: reader.isSet("TASKGATE_BUILD") ? reader.integer("TASKGATE_BUILD") : null,
    workerName: reader.textOrNull("TASKGATE_WORKER_NAME") ?? defaultWorkerName(environment),
    logLevel: reader.text("TASKGATE_LOG_LEVEL") as LogLevel,
    traceUrl: reader.textOrNull("TASKGATE_TRACE_URL"),
    ...readQueues(reader),
    operatorApi: reader.text("TASKGATE_OPERATOR_API") === "on",
    signIn: readSignIn(reader, environment),
    hasProbe: reader.text("TASKGATE_PROBE") === "on",
    worksAtOnce: reader.text("TASKGATE_WORK_AT_ONCE") === "on",
    whenStuck: reader.text("TASKGATE_WHEN_STUCK") === "stay" ? "stay" : "exit",
    storage: readStorage(reader),
    telemetry: readTelemetry(reader),
    resourceManagerUrl: reader.text("AZURE_RESOURCE_MANAGER_URL").replace(/\/+$/, ""),
  };
  if (settings.deadlineMarginMs >= settings.functionTimeoutMs) {
    reader.addProblem(
      "TASKGATE_DEADLINE_MARGIN_MS: expected less than TASKGATE_FUNCTION_TIMEOUT_MS, got as much or more",
    );
  }
  const isSqlServer =
    settings.database.kind === "identity" || settings.database.url.startsWith("mssql:");
  if (isSqlServer && settings.schema !== "taskgate") {
    reader.addProblem(
      "TASKGATE_SCHEMA: expected taskgate on SQL Server, where the schema is always Taskgate, got another name",
    );
  }
  if (reader.problems.length > 0) throw new SettingsError(reader.problems);
  return deepFreeze(settings);
}

/** Settings that triggers need when they are registered, before anything else is read. */
export type TriggerSettings = Pick<
  Settings,
  "hintQueue" | "ingestQueue" | "sweepSchedule" | "operatorApi" | "signIn"
>;

const triggerSettingNames: readonly SettingName[] = [
  "TASKGATE_HINT_QUEUE",
  "TASKGATE_INGEST_QUEUE",
  "TASKGATE_SWEEP_SCHEDULE",
  "TASKGATE_OPERATOR_API",
  "TASKGATE_API_SIGN_IN",
];

/**
 * The part of the settings that decides what the triggers listen to. Throws SettingsError of these settings only: what
 * is wrong with others is said by `loadSettings`, at the first invocation, when there is a log to say it in.
 */
export function loadTriggerSettings(
  environment: Environment = currentEnvironment(),
): TriggerSettings {
  const reader = new SettingsReader(environment);
  const settings: TriggerSettings = {
    ...readQueues(reader),
    sweepSchedule: reader.text("TASKGATE_SWEEP_SCHEDULE"),
    operatorApi: reader.text("TASKGATE_OPERATOR_API") === "on",
    signIn: readSignIn(reader, environment),
  };
  const problems = reader.problems.filter((problem) =>
    triggerSettingNames.some((name) => problem.startsWith(`${name}: `)),
  );
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

/** Reads one setting after the other and gathers problems instead of stopping at the first. */
class SettingsReader {
  readonly problems: string[] = [];
  readonly #values = new Map<SettingName, string>();

  constructor(environment: Environment) {
    this.#refuseUnknown(environment);
    for (const entry of settingsTable) {
      const value = environment[entry.name];
      if (value === undefined || value === "") continue;
      if (isExpected(entry, value)) this.#values.set(entry.name, value);
      else this.#refuse(entry, value);
    }
  }

  addProblem(problem: string): void {
    this.problems.push(problem);
  }

  /** Is it set, to something that can be used? */
  isSet(name: SettingName): boolean {
    return this.#values.has(name);
  }

  /** The value or the default; of a bad value (a problem by now) the default, too. */
  textOrNull(name: SettingName): string | null {
    const value = this.#values.get(name) ?? entryOf(name).default;
    return value === null ? null : String(value);
  }

  text(name: SettingName): string {
    return this.textOrNull(name) ?? "";
  }

  integer(name: SettingName): number {
    return Number(this.text(name));
  }

  #refuse(entry: SettingEntry, value: string): void {
    // A secret may stand in any setting by mistake.
    const got = `a value of ${showCount(value.length)} that is not shown`;
    this.addProblem(`${entry.name}: expected ${describeExpected(entry)}, got ${got}`);
  }

  #refuseUnknown(environment: Environment): void {
    const known: readonly string[] = [
      ...settingsTable.map((entry) => entry.name),
      ...commandLineNames,
    ];
    for (const name of Object.keys(environment)) {
      if (!name.startsWith("TASKGATE_") || name.startsWith("TASKGATE_TEST_")) continue;
      const given = environment[name];
      if (known.includes(name) || given === undefined) continue;
      const near = didYouMean(name, known);
      this.addProblem(
        near === ""
          ? `${name}: expected the name of a setting, got an unknown one. Remove it`
          : `${name}: expected the name of a setting, got an unknown one.${near}`,
      );
    }
  }
}

function showCount(characters: number): string {
  return characters === 1 ? "1 character" : `${String(characters)} characters`;
}

function entryOf(name: SettingName): SettingEntry {
  const entry = settingsTable.find((candidate) => candidate.name === name);
  // The type of `name` comes from the table itself.
  return entry as SettingEntry;
}

function readDatabase(reader: SettingsReader): DatabaseSettings {
  const url = reader.textOrNull("TASKGATE_DATABASE_URL");
  const server = reader.textOrNull("TASKGATE_SQL_SERVER");
  const database = reader.textOrNull("TASKGATE_SQL_DATABASE");
  const hasIdentity = server !== null || database !== null;
  const isRefused = reader.problems.some((problem) =>
    /^TASKGATE_(DATABASE_URL|SQL_SERVER|SQL_DATABASE):/.test(problem),
  );
  if (url !== null && hasIdentity) {
    reader.addProblem(
      "TASKGATE_DATABASE_URL: expected either it or TASKGATE_SQL_SERVER and TASKGATE_SQL_DATABASE, got both. Remove one of the two",
    );
  } else if (url === null && !hasIdentity && !isRefused) {
    reader.addProblem(
      "TASKGATE_DATABASE_URL: expected the address of the database (postgres://.. or mssql://..), or TASKGATE_SQL_SERVER and TASKGATE_SQL_DATABASE, got nothing",
    );
  } else if (url === null && hasIdentity && !isRefused) {
    if (server === null) {
      reader.addProblem("TASKGATE_SQL_SERVER: expected with TASKGATE_SQL_DATABASE, got nothing");
    }
    if (database === null) {
      reader.addProblem("TASKGATE_SQL_DATABASE: expected with TASKGATE_SQL_SERVER, got nothing");
    }
  }
  if (url !== null) return { kind: "url", url };
  const clientId = reader.textOrNull("TASKGATE_SQL_CLIENT_ID");
  return { kind: "identity", server: server ?? "", database: database ?? "", clientId };
}

function readQueues(reader: SettingsReader): Pick<Settings, "hintQueue" | "ingestQueue"> {
  const hintQueue = reader.text("TASKGATE_HINT_QUEUE");
  const ingestQueue = reader.text("TASKGATE_INGEST_QUEUE");
  if (hintQueue === ingestQueue) {
    reader.addProblem(
      "TASKGATE_INGEST_QUEUE: expected another queue than TASKGATE_HINT_QUEUE, got one for both",
    );
  }
  return { hintQueue, ingestQueue };
}

/** The platform writes `True`; a name of its own, so it is no setting of Taskgate's. */
function readSignIn(reader: SettingsReader, environment: Environment): SignInSettings {
  return {
    apiSignIn: reader.text("TASKGATE_API_SIGN_IN") === "entra" ? "entra" : "keys",
    // The Functions host takes either [src: azure-functions-host HostEasyAuthOptionsSetup.cs].
    hasPlatformSignIn: ["true", "1"].includes(
      environment["WEBSITE_AUTH_ENABLED"]?.toLowerCase() ?? "",
    ),
  };
}

function readStorage(reader: SettingsReader): StorageSettings | null {
  const connectionString = reader.textOrNull("AzureWebJobsStorage");
  const identity = readIdentity((part) => reader.textOrNull(`AzureWebJobsStorage${part}`));
  if (connectionString !== null && identity !== null) {
    reader.addProblem(
      "AzureWebJobsStorage: expected either a connection string or AzureWebJobsStorage__queueServiceUri, got both. Remove one of the two",
    );
  }
  return connectionString === null ? identity : { kind: "connection-string", connectionString };
}

function readTelemetry(reader: SettingsReader): TelemetrySettings | null {
  const connectionString = reader.textOrNull("APPLICATIONINSIGHTS_CONNECTION_STRING");
  if (connectionString === null) return null;
  const authentication = reader.text("APPLICATIONINSIGHTS_AUTHENTICATION_STRING");
  const clientId = /(?:^|;)\s*ClientId=([^;\s]+)/i.exec(authentication)?.[1] ?? null;
  const usesIdentity = /(?:^|;)\s*Authorization=AAD\s*(?:;|$)/i.test(authentication);
  return { connectionString, usesIdentity, clientId };
}

/** Distinct per process: two processes of one machine are two workers. */
function defaultWorkerName(environment: Environment): string {
  const machine = environment["WEBSITE_INSTANCE_ID"] ?? hostname();
  return `${machine.slice(0, 180)}:${String(process.pid)}`;
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const part of Object.values(value)) {
    if (typeof part === "object" && part !== null) deepFreeze(part as object);
  }
  return Object.freeze(value);
}
