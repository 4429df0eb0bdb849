import type { InvalidArgumentError } from "../core/errors";
import { checkNames } from "../core/known-names";
import { refusedField } from "../core/refused-field";
import { wrongValue } from "../core/wrong-value";
import { checkOpenTelemetry, createOwnOpenTelemetry } from "../platform/own-open-telemetry";
import type { Logger } from "../ports/logger";
import { noTelemetry } from "../ports/telemetry";
import type { OpenTelemetryModule } from "../ports/telemetry";
import { describeExpected, isExpected } from "../settings/setting-formats";
import { settingsTable } from "../settings/settings";
import type { SettingName, StorageSettings } from "../settings/settings";
import { checkDatabaseAddress } from "../store/open-store";
import type { DatabaseAddress } from "../store/open-store";
import { checkTasks } from "../worker/define/registry";
import type { AnyTaskKind } from "../worker/define/task-kind";

/** Where hints go: the storage queue that the app's workers listen to. */
export interface HintQueueAddress {
  /** A connection string of the storage account, or the address of its queues, `https://account.queue.core.windows.net`. */
  readonly storage: string;
  /** The app's setting TASKGATE_HINT_QUEUE; default `taskgate-hints`. */
  readonly queue?: string;
  /** Client id of a user-assigned identity for an https address; default: the identity that the process finds. */
  readonly clientId?: string;
}

/** How a program reaches Taskgate. */
export interface ClientOptions {
  /** `postgres://..`, `mssql://..`, or an address with an Entra identity or a schema of another name. */
  readonly store: string | DatabaseAddress;
  /**
   * Kinds that this program knows. Their definitions are registered when the database lacks them. Default: none, and a
   * definition that no app has registered is an error (TASKGATE_ARG_UNKNOWN).
   */
  readonly tasks?: readonly AnyTaskKind[];
  /**
   * Default: no hints are sent, and the app's sweep finds the tasks. Where several apps share the database, the hint of a
   * task goes to the queue of its app, with this login; `queue` is for tasks of no named app.
   */
  readonly hints?: HintQueueAddress;
  /**
   * The app's setting TASKGATE_SWEEP_SCHEDULE, for `startsWithinMs`: six fields in UTC, such as the app's default, which is
   * every 30 s. Default: not known.
   */
  readonly sweepSchedule?: string;
  /** Most connections of this client: 1..100, default 3. */
  readonly connectionsMax?: number;
  /**
   * A try of a call that has no answer after so many ms is given up: 1,000..600,000, default 30,000; it waits as long for a connection,
   * and 15 s at most. A call is tried six times. So it ends in about six times this while the database says nothing, and in 110 s
   * by default. Then it throws StoreUncertainError where a try was sent, else StoreUnavailableError.
   */
  readonly callTimeoutMs?: number;
  /** Who enqueues, for the audit of registrations; 1..200 characters, default `client`. */
  readonly name?: string;
  /** Default: warnings and errors as lines on standard error. */
  readonly logger?: Logger;
  /**
   * The module `@opentelemetry/api` of a program that has set OpenTelemetry up: a task then belongs to the trace of the span that is
   * active at its enqueue. Default: tasks have no trace of the program's.
   */
  readonly openTelemetry?: OpenTelemetryModule;
}

/** Each option with the setting of the app that says the same: range, form and default stand there once. */
const settingOf = {
  "hints.queue": "TASKGATE_HINT_QUEUE",
  "hints.clientId": "AzureWebJobsStorage__clientId",
  "hints.storage": "AzureWebJobsStorage",
  sweepSchedule: "TASKGATE_SWEEP_SCHEDULE",
  connectionsMax: "TASKGATE_CONNECTIONS_MAX",
  callTimeoutMs: "TASKGATE_CALL_TIMEOUT_MS",
  name: "TASKGATE_WORKER_NAME",
} as const satisfies Record<string, SettingName>;

const names = [
  "store",
  "tasks",
  "hints",
  "sweepSchedule",
  "connectionsMax",
  "callTimeoutMs",
  "name",
  "logger",
  "openTelemetry",
] satisfies readonly (keyof ClientOptions)[];
const hintNames = ["storage", "queue", "clientId"] satisfies readonly (keyof HintQueueAddress)[];
const addressNames = ["url", "identity", "schema"] satisfies readonly (keyof DatabaseAddress)[];
const identityNames = ["server", "database", "clientId"] satisfies readonly (keyof NonNullable<
  DatabaseAddress["identity"]
>)[];

/** The options, complete and checked. */
export type CheckedOptions = Readonly<ReturnType<typeof checkClientOptions>>;

/** Throws InvalidArgumentError naming the option, its value (no secrets) and the expected form. */
export function checkClientOptions(options: ClientOptions) {
  // A text may be an address with a password: its value isn't shown.
  if (typeof options !== "object") throw refusedField("options", "an object with `store`");
  checkNames("createClient", options, names);
  const { store, tasks = [], hints, sweepSchedule, logger, openTelemetry } = options;
  if (openTelemetry !== undefined) checkOpenTelemetry(openTelemetry);
  const address: DatabaseAddress = typeof store === "string" ? { url: store } : store;
  if (typeof address !== "object")
    throw refused("store", "an address such as postgres://..", store);
  checkNames("store", address, addressNames);
  if (address.identity !== undefined) checkNames("store.identity", address.identity, identityNames);
  checkDatabaseAddress(address);
  checkTasks(tasks);
  return {
    address,
    tasks,
    hints: hints === undefined ? null : checkHints(hints),
    // null: not known.
    sweepSchedule: sweepSchedule === undefined ? null : checked("sweepSchedule", sweepSchedule),
    connectionsMax: checked("connectionsMax", options.connectionsMax ?? 3),
    callTimeoutMs: checked("callTimeoutMs", options.callTimeoutMs ?? 30_000),
    name: checked("name", options.name ?? "client"),
    // null: the default.
    logger: logger ?? null,
    telemetry: openTelemetry === undefined ? noTelemetry : createOwnOpenTelemetry(openTelemetry),
  };
}

function checkHints(hints: HintQueueAddress): { storage: StorageSettings; queue: string } {
  if (typeof hints !== "object") throw refusedField("hints", "an object with `storage`");
  checkNames("hints", hints, hintNames);
  const { storage, clientId } = hints;
  const queue = checked("hints.queue", hints.queue ?? "taskgate-hints");
  if (typeof storage === "string" && storage.startsWith("https://")) {
    const credential = clientId === undefined ? "default" : "managedidentity";
    const id = clientId === undefined ? null : checked("hints.clientId", clientId);
    return {
      storage: { kind: "identity", queueServiceUri: storage, credential, clientId: id },
      queue,
    };
  }
  const connectionString = checked("hints.storage", storage);
  return { storage: { kind: "connection-string", connectionString }, queue };
}

/** The value itself, if the setting of the same meaning takes it. */
function checked<Value extends string | number>(
  option: keyof typeof settingOf,
  value: Value,
): Value {
  const entry = settingsTable.find(({ name }) => name === settingOf[option]);
  const wanted = entry?.type === "integer" ? "number" : "string";
  if (entry !== undefined && typeof value === wanted && isExpected(entry, String(value)))
    return value;
  const expected = entry === undefined ? "another value" : describeExpected(entry);
  throw refused(option, expected, entry?.isSecret === true ? undefined : value);
}

function refused(field: string, expected: string, value: unknown): InvalidArgumentError {
  return value === undefined ? refusedField(field, expected) : wrongValue(field, expected, value);
}
