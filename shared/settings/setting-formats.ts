import { isProcedureName, listOfProcedures } from "../core/procedure-name";
import { isSchemaName, schemaNameRule } from "../core/schema-name";

/** What each type of setting accepts, in words for people and as a check. */

/** Of a type: the expected form, and whether a text has it. Lengths and ranges are checked apart. */
interface SettingFormat {
  readonly expected: string;
  readonly accepts: (text: string) => boolean;
}

const formats = {
  integer: { expected: "a whole number", accepts: (text) => /^-?\d{1,16}$/.test(text) },
  text: {
    expected: "a text without blanks at either end and without control characters",
    accepts: (text) => text.trim() === text && !/\p{Cc}/u.test(text),
  },
  choice: { expected: "one of", accepts: () => true },
  "database-url": {
    expected:
      "postgres://user:password@host:port/database or mssql://user:password@host:port/database",
    accepts: isDatabaseUrl,
  },
  host: {
    expected: "a host name such as name.database.windows.net, with no scheme, port or path",
    accepts: (text) =>
      /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && !text.includes(".."),
  },
  schema: {
    expected: schemaNameRule,
    accepts: isSchemaName,
  },
  schedule: {
    expected: "six fields (second minute hour day month weekday) such as `*/30 * * * * *`",
    accepts: isSchedule,
  },
  "queue-name": {
    expected: "lower case letters, digits and single hyphens inside",
    accepts: isQueueName,
  },
  procedures: {
    expected: "names of procedures as schema.name, joined by commas",
    accepts: (text) => listOfProcedures(text).every(isProcedureName),
  },
  guid: {
    expected: "a GUID such as 01234567-89ab-cdef-0123-456789abcdef",
    accepts: isGuid,
  },
  "storage-connection": {
    expected:
      "a connection string with AccountName, AccountKey or SharedAccessSignature, or UseDevelopmentStorage=true",
    accepts: (text) =>
      /(^|;)\s*UseDevelopmentStorage=true\s*(;|$)/i.test(text) ||
      (/(^|;)\s*AccountName=[^;]+/i.test(text) && /(^|;)\s*AccountKey=[^;]+/i.test(text)) ||
      /(^|;)\s*SharedAccessSignature=[^;]+/i.test(text),
  },
  "insights-connection": {
    expected: "a connection string with InstrumentationKey=..",
    accepts: (text) => /(^|;)\s*InstrumentationKey=[^;]+/i.test(text),
  },
  "insights-authentication": {
    expected: "Authorization=AAD, with ;ClientId=GUID for a user-assigned identity",
    accepts: isInsightsAuthentication,
  },
  "https-url": { expected: "an address that begins with https://", accepts: isWebAddress },
  "trace-url": {
    expected: "an address that begins with https:// and has {trace} in it",
    accepts: (text) => isWebAddress(text) && text.includes("{trace}"),
  },
  "account-name": {
    expected: "lower case letters and digits",
    accepts: (text) => /^[a-z0-9]+$/.test(text),
  },
} satisfies Readonly<Record<string, SettingFormat>>;

/** One line of the table. */
export interface SettingEntry {
  /** Name of the environment variable. */
  readonly name: string;
  readonly type: keyof typeof formats;
  /** The default; null: none, or the one that the sentence names. */
  readonly default: string | number | null;
  /** Of integers the least value, of texts the least number of characters. */
  readonly min: number;
  /** Of integers the greatest value, of texts the most characters. */
  readonly max: number;
  readonly unit: "ms" | "connections" | "tasks" | "reads" | "characters" | "build";
  /** Allowed words of a `choice`. */
  readonly choices?: readonly string[];
  /** Never shown in messages. */
  readonly isSecret: boolean;
  /** What it is for, in one sentence. */
  readonly sentence: string;
}

/** What a setting expects, for messages and the reference page. */
export function describeExpected(entry: SettingEntry): string {
  const format = formats[entry.type];
  if (entry.type === "choice") return `one of ${(entry.choices ?? []).join(", ")}`;
  if (entry.type === "integer") {
    const unit = entry.unit === "ms" ? " ms" : "";
    return `${format.expected} in ${String(entry.min)}..${String(entry.max)}${unit}`;
  }
  return `${format.expected}, ${String(entry.min)}..${String(entry.max)} characters`;
}

/** Is this a name that a storage queue can have, apart from its length? */
export function isQueueName(text: string): boolean {
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text);
}

/** Is the text what the entry expects? */
export function isExpected(entry: SettingEntry, text: string): boolean {
  if (!formats[entry.type].accepts(text)) return false;
  if (entry.type === "choice") return entry.choices?.includes(text) ?? false;
  if (entry.type !== "integer") return text.length >= entry.min && text.length <= entry.max;
  const value = Number(text);
  return value >= entry.min && value <= entry.max;
}

/** Is it an address of a database that Taskgate knows, with host and database name? */
export function isDatabaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (!["postgres:", "postgresql:", "mssql:"].includes(url.protocol)) return false;
  // A socket's folder may stand for the host of a local PostgreSQL.
  return url.pathname.length > 1 && (url.hostname !== "" || url.searchParams.has("host"));
}

function isGuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Nothing but the two names is known; without the first one no identity is used. */
function isInsightsAuthentication(text: string): boolean {
  const pairs = text.split(";").map((pair) => pair.trim());
  const isIdentity = (pair: string): boolean => /^Authorization=AAD$/i.test(pair);
  const isClient = (pair: string): boolean =>
    /^ClientId=/i.test(pair) && isGuid(pair.slice("ClientId=".length));
  return (
    pairs.some(isIdentity) &&
    pairs.every((pair) => pair === "" || isIdentity(pair) || isClient(pair))
  );
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === "https:";
}

interface ScheduleField {
  readonly least: number;
  readonly greatest: number;
  readonly names: readonly string[];
}

const scheduleFields: readonly ScheduleField[] = [
  { least: 0, greatest: 59, names: [] },
  { least: 0, greatest: 59, names: [] },
  { least: 0, greatest: 23, names: [] },
  { least: 1, greatest: 31, names: [] },
  { least: 1, greatest: 12, names: "jan feb mar apr may jun jul aug sep oct nov dec".split(" ") },
  { least: 0, greatest: 6, names: "sun mon tue wed thu fri sat".split(" ") },
];

/** NCRONTAB with six fields: lists of `*`, values and ranges, each with an optional step. */
function isSchedule(text: string): boolean {
  const parts = text.split(/ +/);
  return (
    parts.length === scheduleFields.length &&
    scheduleFields.every((field, index) =>
      (parts[index] ?? "").split(",").every((item) => isScheduleItem(item, field)),
    )
  );
}

function isScheduleItem(item: string, field: ScheduleField): boolean {
  const match = /^(\*|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/(\d{1,2}))?$/i.exec(item);
  if (match === null) return false;
  const [, , from, to, step] = match;
  if (step !== undefined && Number(step) < 1) return false;
  if (from === undefined) return true;
  const first = scheduleValue(from, field);
  const last = to === undefined ? first : scheduleValue(to, field);
  return first !== null && last !== null && first <= last;
}

function scheduleValue(text: string, field: ScheduleField): number | null {
  const named = field.names.indexOf(text.toLowerCase());
  const value = named === -1 ? (/^\d{1,2}$/.test(text) ? Number(text) : NaN) : named + field.least;
  return value >= field.least && value <= field.greatest ? value : null;
}
