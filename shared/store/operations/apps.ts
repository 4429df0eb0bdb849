import { limits } from "../../core/limits";
import { checkKey } from "../../core/text";
import { unlike } from "./checks";
import { columns, json, oneOf, textOrNull } from "./columns";
import { operationsOf } from "./operation";
import { cleanOperator } from "./operator";
import type { OperatorInput } from "./operator";

/* ---- Apps: several of them on one database, each with definitions of its own ---- */

/** Apps: which one runs the tasks of a definition, and where its hints go. */
export interface AppOperations {
  /** An app claims its definitions. Definitions of another app stay with that app. Idempotent by value. */
  registerApp(input: RegisterAppInput): Promise<RegisterAppAnswer>;
  /** All apps with their definitions, by name. */
  listApps(): Promise<{ apps: AppStatus[] }>;
  /** Hands a definition over to another app, or releases it. Idempotent by value. */
  setDefinitionOwner(input: SetDefinitionOwnerInput): Promise<SetDefinitionOwnerAnswer>;
}

/** Where an app's hints go, and how often its sweep looks. No secret. */
export interface AppAddress {
  /** Address of the storage account's queues, such as `https://account.queue.core.windows.net`; null: not known. */
  readonly queueUri: string | null;
  /** Name of the queue. */
  readonly queue: string;
  /** How the app's trigger reads the texts of its queue. */
  readonly encoding: "base64" | "none";
  /** Six fields in UTC; null: not known. */
  readonly sweepSchedule: string | null;
}

export interface RegisterAppInput {
  app: string;
  /** Names of its definitions, at most 1,000. They may be registered later. */
  definitions: readonly string[];
  /** null: not known. */
  address: AppAddress | null;
}

const registered = columns({
  /** registered: something is new. */
  status: oneOf("registered", "exists"),
  /** Those of `definitions` that belong to other apps, by name. */
  refused: json<{ name: string; app: string }[]>,
});
/** Answer of `registerApp`. */
export type RegisterAppAnswer = ReturnType<typeof registered>;

export interface AppStatus {
  app: string;
  /** null: not known. */
  address: AppAddress | null;
  /** By name. */
  definitions: string[];
}

export interface SetDefinitionOwnerInput extends OperatorInput {
  /** null: no app, until one registers the definition. */
  app: string | null;
  /** The change is made only if the definition belongs to this app; null: to none. Left out: to any. */
  expectedApp?: string | null;
}

const owned = columns({
  /** conflict: it belongs to another app than the expected one, `oldApp`; nothing was written. */
  status: oneOf("set", "exists", "conflict"),
  /** null: none. */
  oldApp: textOrNull,
  newApp: textOrNull,
});
/** Answer of `setDefinitionOwner`. */
export type SetDefinitionOwnerAnswer = ReturnType<typeof owned>;

const operation = operationsOf<AppOperations>();

/** Procedure `register_app`. */
export const registerApp = operation("registerApp", {
  right: "worker",
  parameters: { app: "text", definitions: "json", address: "json" },
  check: (input) => {
    checkKey("app", input.app);
    const { appDefinitionsMax, appAddressLengthMax } = limits;
    const count = input.definitions.length;
    if (count > appDefinitionsMax)
      throw unlike("definitions", `at most ${String(appDefinitionsMax)} names`, String(count));
    input.definitions.forEach((name, index) => {
      checkKey(`definitions[${String(index)}]`, name);
    });
    const length = JSON.stringify(input.address).length;
    if (length > appAddressLengthMax) {
      const expected = `at most ${String(appAddressLengthMax)} characters of JSON`;
      throw unlike("address", expected, String(length));
    }
    return input;
  },
  decode: registered,
});

/** Procedure `list_apps`. */
export const listApps = operation("listApps", {
  right: "worker",
  parameters: {},
  decode: (row) => ({ apps: json<AppStatus[]>(row, "apps") }),
});

/** Procedure `set_definition_owner`. */
export const setDefinitionOwner = operation("setDefinitionOwner", {
  right: "operator",
  parameters: {
    name: "text",
    app: "text",
    changedBy: "text",
    reason: "text",
    expectedApp: "text",
  },
  check: (input) => {
    if (input.app !== null) checkKey("app", input.app);
    if (input.expectedApp != null) checkKey("expectedApp", input.expectedApp);
    return cleanOperator(input);
  },
  bind: ({ expectedApp }) => ({ expectedApp: expectedApp === null ? "" : (expectedApp ?? null) }),
  decode: owned,
});
