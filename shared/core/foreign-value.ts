import { limits } from "./limits";
import { cleanText } from "./text";

/*
 * Values that other people's code hands over: anything, such as an object whose getters throw, a revoked proxy, an error with a
 * message of 200 MB. Describing them here runs at most their getters; an error that these throw is described in turn, once.
 */

/** Characters of a foreign value that a reason shows. */
const shownMax = 120;

/** What a value is, for a reason that people read: short, never throws. Runs no code of the value but its `toString` tag. */
export function describeValue(value: unknown): string {
  try {
    if (typeof value === "string") return `the text ${shownText(value)}`;
    if (typeof value === "bigint") return `the bigint ${cut(String(value))}n`;
    if (typeof value === "symbol") return cut(String(value));
    if (typeof value === "function") return "a function";
    if (typeof value !== "object" || value === null) return String(value);
    if (Array.isArray(value)) return "an array";
    const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
    return tag === "Object" ? "an object" : `an object (${cut(tag)})`;
  } catch {
    return "an object that can't be looked at";
  }
}

/** As `describeValue`; of an instance the name of its class. */
export function describeInstance(value: unknown): string {
  if (typeof value !== "object" || value === null) return describeValue(value);
  const maker = read(value, "constructor");
  const name = typeof maker === "function" ? read(maker, "name") : "";
  const isNamed = typeof name === "string" && name !== "" && name !== "Object";
  return isNamed ? `an instance of ${cut(name)}` : describeValue(value);
}

/** A text in quotes, short. */
export function shownText(text: string): string {
  return `"${cleanText(text, shownMax)}"${text.length > shownMax ? ` and ${String(text.length - shownMax)} more characters` : ""}`;
}

function cut(text: string): string {
  return cleanText(text, shownMax);
}

/** The message alone. Never throws. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? messageText(thrown) : describeValue(thrown);
}

/** Is it an object, no array? */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Is it an object with such a member? */
export function hasMember(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && name in value;
}

/** A member of a foreign object; undefined when its getter throws. */
export function read(value: object, member: string): unknown {
  try {
    return (value as Record<string, unknown>)[member];
  } catch {
    return undefined;
  }
}

/** A member that is a text; undefined: there is none. */
export function textAt(value: unknown, member: string): string | undefined {
  const found = typeof value === "object" && value !== null ? read(value, member) : undefined;
  return typeof found === "string" ? found : undefined;
}

/** `instanceof`, of a value whose proxy may throw at the question. */
export function isOf<Kind extends object>(
  value: unknown,
  // Only its prototype is asked for.
  kind: abstract new (...parameters: never[]) => Kind,
): value is Kind {
  try {
    return value instanceof kind;
  } catch {
    return false;
  }
}

/** Is it an error? Also one of another realm, such as that of a test runner's or a sandbox's outside. */
export function isError(value: unknown): value is Error {
  if (isOf(value, Error)) return true;
  try {
    return Object.prototype.toString.call(value) === "[object Error]";
  } catch {
    return false;
  }
}

function messageText(error: Error): string {
  const text = read(error, "message");
  return typeof text === "string"
    ? text.slice(0, limits.errorLengthMax)
    : "(its message can't be read)";
}
