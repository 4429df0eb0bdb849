import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InvalidArgumentError } from "../core/errors";
import { refusedField } from "../core/refused-field";
import type { StorageSettings } from "./settings";

/** The part of an invocation's trigger that names its storage queue. */
export interface QueueTrigger {
  readonly queueName?: unknown;
  readonly connection?: unknown;
  readonly type?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a storage queue's trigger reads: `%..%` and the connection are resolved as the host does it. */
export interface QueueAddress {
  readonly name: string;
  readonly storage: StorageSettings;
}

/**
 * Resolves queue and connection of a trigger: `%NAME%` in the queue's name is an app setting; a connection is a setting with a
 * connection string (`NAME` or `AzureWebJobsNAME`), or an identity's settings `NAME__queueServiceUri` or `NAME__accountName`,
 * `NAME__credential`, `NAME__clientId`. Throws InvalidArgumentError naming the missing setting.
 */
export function addressOfTrigger(
  trigger: QueueTrigger,
  environment: Environment = process.env,
): QueueAddress {
  const { queueName, connection } = trigger;
  if (typeof queueName !== "string" || queueName === "")
    throw missing("queueName", "the trigger's own queue");
  const name = queueName.replaceAll(/%([^%]+)%/g, (_, setting: string) => {
    const value = environment[setting];
    if (value === undefined || value === "") throw missing(setting, `part of ${queueName}`);
    return value;
  });
  const prefix =
    typeof connection === "string" && connection !== "" ? connection : "AzureWebJobsStorage";
  for (const setting of [prefix, `AzureWebJobs${prefix}`]) {
    const storage = readConnection(setting, environment);
    if (storage !== null) return { name, storage };
  }
  throw missing(prefix, `a connection string, or ${prefix}__queueServiceUri for an identity`);
}

function readConnection(prefix: string, environment: Environment): StorageSettings | null {
  const read = (part: string): string | null => environment[`${prefix}${part}`] || null;
  const connectionString = read("");
  if (connectionString !== null) return { kind: "connection-string", connectionString };
  return readIdentity(read);
}

/** The identity's settings of a storage connection, by what stands behind the connection's name; null: there are none. */
export function readIdentity(
  read: (
    part: `__${"accountName" | "queueServiceUri" | "credential" | "clientId"}`,
  ) => string | null,
): Extract<StorageSettings, { readonly kind: "identity" }> | null {
  const account = read("__accountName");
  const queueServiceUri =
    read("__queueServiceUri") ??
    (account === null ? null : `https://${account}.queue.core.windows.net`);
  if (queueServiceUri === null) return null;
  const clientId = read("__clientId");
  const isManaged = clientId !== null || read("__credential") !== null;
  const credential = isManaged ? "managedidentity" : "default";
  return { kind: "identity", queueServiceUri, credential, clientId };
}

function missing(field: string, expected: string): InvalidArgumentError {
  return refusedField(field, `${expected} (it isn't set)`);
}

/** The app setting that stands over host.json; the host compares such names without case. */
const encodingSetting = "azurefunctionsjobhost__extensions__queues__messageencoding";

/** Address of the queues of the emulator, which a connection string may name in short. */
const emulatorQueues = "http://127.0.0.1:10001/devstoreaccount1";

/**
 * Address of a storage account's queues, without any secret; null: a connection string doesn't tell it. Two settings of one
 * account give one text.
 */
export function queueUriOf(storage: StorageSettings): string | null {
  if (storage.kind === "identity") return plainUri(storage.queueServiceUri);
  const parts = new Map(
    storage.connectionString.split(";").map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()];
    }),
  );
  const endpoint = parts.get("queueendpoint");
  if (endpoint !== undefined) return plainUri(endpoint);
  if (parts.get("usedevelopmentstorage") === "true") return emulatorQueues;
  const account = parts.get("accountname");
  if (account === undefined) return null;
  const protocol = parts.get("defaultendpointsprotocol") ?? "https";
  return plainUri(
    `${protocol}://${account}.queue.${parts.get("endpointsuffix") ?? "core.windows.net"}`,
  );
}

/**
 * May a login for the queues at `own` be sent to those at `other`? An identity's token is for every storage account that it has a
 * role on, so it goes to hosts of the same cloud only: the database says `other`, and a writer of the database must not choose
 * where tokens are sent.
 */
export function isSameCloud(own: string, other: string): boolean {
  const cloudOf = (text: string): string | undefined =>
    /^https:\/\/[a-z0-9]{3,24}(?:\.z\d{1,3})?(\.queue\.[a-z0-9.-]+)$/.exec(
      plainUri(text) ?? "",
    )?.[1];
  const cloud = cloudOf(own);
  return cloud !== undefined && cloud === cloudOf(other);
}

/** Without login, query and a slash at the end; null: no address. */
function plainUri(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/**
 * How the host reads the texts of queues: by the app setting `AzureFunctionsJobHost__extensions__queues__messageEncoding`, else by
 * the host.json of `folder`, in which the host starts the process. Without both the host's default.
 */
export function readMessageEncoding(
  folder = process.cwd(),
  environment: Environment = process.env,
): "base64" | "none" {
  for (const [name, value = ""] of Object.entries(environment))
    if (name.toLowerCase() === encodingSetting && value !== "") return encodingOf(value);
  const file = join(folder, "host.json");
  // The host takes comments in its file, JSON.parse doesn't: one setting is looked for in the lines that are no comment.
  const text = existsSync(file) ? readFileSync(file, "utf8").replace(/^\s*\/\/.*$/gm, "") : "";
  return encodingOf(/"messageEncoding"\s*:\s*"(\w+)"/i.exec(text)?.[1] ?? "");
}

function encodingOf(word: string): "base64" | "none" {
  return word.toLowerCase() === "none" ? "none" : "base64";
}
