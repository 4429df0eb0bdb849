/** Reads what the local host needs from `host.json`, with Azure's defaults and ranges. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../../core/foreign-value";
import { parseJsonWithComments } from "../../core/json-comments";

/** How queue triggers behave; the names are host.json's, durations in ms. */
export interface QueueSettings {
  /** Messages fetched at a time, 1..32. */
  readonly batchSize: number;
  /** Fetch again when no more than this many messages are being worked on. */
  readonly newBatchThreshold: number;
  /** Tries before a message goes to the poison queue. */
  readonly maxDequeueCount: number;
  /** How long a message of a failed run stays invisible. */
  readonly visibilityTimeoutMs: number;
  /** Longest pause between two looks into an empty queue, at least 100. */
  readonly maxPollingIntervalMs: number;
  readonly messageEncoding: "base64" | "none";
}

/** What the local host uses of host.json. */
export interface HostSettings {
  /** First part of every HTTP route, without slashes; may be empty. */
  readonly routePrefix: string;
  /** Null: no limit. */
  readonly functionTimeoutMs: number | null;
  readonly queues: QueueSettings;
  /** Whether host.json or a setting has a member, such as `extensions.queues.batchSize`: else the default is in force. */
  has(member: string): boolean;
}

/** Azure polls an empty queue every minute at most; `func` on a developer's computer every 2 s. */
const MAX_POLLING_INTERVAL_MS = 2_000;
const POLLING_INTERVAL_MIN_MS = 100;
/** The host's own default. Consumption plans have 5 minutes. */
const FUNCTION_TIMEOUT_MS = 1_800_000;
const OVERRIDE_PREFIX = "azurefunctionsjobhost__";

/**
 * Reads `<appRoot>/host.json`. Settings named `AzureFunctionsJobHost__a__b` override its member
 * `a.b`, as on Azure. Throws an Error that names the member with an unusable value.
 */
export async function readHostSettings(
  appRoot: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<HostSettings> {
  const file = join(appRoot, "host.json");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`${file} cannot be read; every function app has one.`, { cause: error });
  });
  const members = new Map<string, unknown>();
  try {
    flatten(parseJsonWithComments(text), [], members);
  } catch (error) {
    throw new Error(`${file} is not valid JSON.`, { cause: error });
  }
  for (const [name, value] of Object.entries(env)) {
    const lower = name.toLowerCase();
    if (!lower.startsWith(OVERRIDE_PREFIX) || value === undefined) continue;
    members.set(lower.slice(OVERRIDE_PREFIX.length).replaceAll("__", "."), value);
  }
  const read = new Reader(file, members);
  const batchSize = read.integer("extensions.queues.batchSize", { fallback: 16, min: 1, max: 32 });
  const messageEncoding = read.text("extensions.queues.messageEncoding", "base64").toLowerCase();
  if (messageEncoding !== "base64" && messageEncoding !== "none") {
    throw new Error(`${file}: extensions.queues.messageEncoding must be base64 or none.`);
  }
  const functionTimeoutMs = read.span("functionTimeout", FUNCTION_TIMEOUT_MS);
  return {
    routePrefix: read.text("extensions.http.routePrefix", "api").replaceAll(/^\/+|\/+$/g, ""),
    functionTimeoutMs: functionTimeoutMs < 0 ? null : functionTimeoutMs,
    queues: {
      batchSize,
      newBatchThreshold: read.integer("extensions.queues.newBatchThreshold", {
        fallback: Math.floor(batchSize / 2),
        min: 0,
        max: 1_000,
      }),
      maxDequeueCount: read.integer("extensions.queues.maxDequeueCount", {
        fallback: 5,
        min: 1,
        max: 1_000,
      }),
      visibilityTimeoutMs: read.span("extensions.queues.visibilityTimeout", 0),
      maxPollingIntervalMs: Math.max(
        POLLING_INTERVAL_MIN_MS,
        read.span("extensions.queues.maxPollingInterval", MAX_POLLING_INTERVAL_MS),
      ),
      messageEncoding,
    },
    has: (member) => members.has(member.toLowerCase()),
  };
}

/** `{ a: { b: 1 } }` becomes `a.b` = 1; names in lower case, because the host ignores case. */
function flatten(value: unknown, path: readonly string[], into: Map<string, unknown>): void {
  if (!isObject(value)) {
    into.set(path.join(".").toLowerCase(), value);
    return;
  }
  for (const [name, member] of Object.entries(value)) flatten(member, [...path, name], into);
}

class Reader {
  readonly #file: string;
  readonly #members: ReadonlyMap<string, unknown>;

  constructor(file: string, members: ReadonlyMap<string, unknown>) {
    this.#file = file;
    this.#members = members;
  }

  text(name: string, fallback: string): string {
    const value = this.#members.get(name.toLowerCase());
    if (value === undefined) return fallback;
    if (typeof value !== "string") throw this.#wrong(name, "a text", value);
    return value;
  }

  integer(name: string, range: { fallback: number; min: number; max: number }): number {
    const value = this.#members.get(name.toLowerCase());
    if (value === undefined) return range.fallback;
    const number = typeof value === "string" ? Number(value) : value;
    const isRight = typeof number === "number" && Number.isInteger(number);
    if (!isRight || number < range.min || number > range.max) {
      throw this.#wrong(name, `an integer in ${String(range.min)}..${String(range.max)}`, value);
    }
    return number;
  }

  /** A .NET time span (`[d.]hh:mm:ss[.fff]`) in ms; `-1` (none) is answered as -1. */
  span(name: string, fallbackMs: number): number {
    const text = this.text(name, "");
    if (text === "") return fallbackMs;
    if (text === "-1") return -1;
    const parts = /^(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,7})?))?$/.exec(text);
    if (parts === null) throw this.#wrong(name, "a time span like 00:00:15", text);
    const [, days = "0", hours = "0", minutes = "0", seconds = "0"] = parts;
    const wholeMinutes = (Number(days) * 24 + Number(hours)) * 60 + Number(minutes);
    return Math.round((wholeMinutes * 60 + Number(seconds)) * 1_000);
  }

  #wrong(name: string, expected: string, value: unknown): Error {
    return new Error(
      `${this.#file}: expected \`${name}\` to be ${expected}, got ${JSON.stringify(value)}.`,
    );
  }
}
