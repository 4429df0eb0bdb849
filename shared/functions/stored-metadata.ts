import { isObject } from "../core/foreign-value";
import type { JsonObject, JsonValue } from "../core/json";

/*
 * The host lays the members of a message that is JSON among the metadata of its trigger. A task whose payload had both would be twice
 * as large as the message: those that the message has are named only.
 */

/** What a task keeps of a trigger's metadata, as members of its payload. */
export interface StoredMetadata {
  readonly triggerMetadata: Readonly<Record<string, unknown>>;
  /** Names of the metadata that are the message's members; absent: none. */
  readonly fromMessage?: readonly string[];
}

/** Fields that only the host uses; the first is the message itself. */
const hostFields = new Set(["queueTrigger", "popReceipt"]);

/** Leaves out what the message says. */
export function packMetadata(
  message: unknown,
  metadata: Readonly<Record<string, unknown>>,
): StoredMetadata {
  const entries = Object.entries(metadata).filter(([name]) => !hostFields.has(name));
  const isCopy = ([name, value]: [string, unknown]): boolean => {
    const member = memberOf(message, name);
    return member !== undefined && jsonOf(member) === jsonOf(value);
  };
  const copies = entries.filter(isCopy).map(([name]) => name);
  const own = entries.filter(([name]) => !copies.includes(name));
  return {
    triggerMetadata: Object.fromEntries(own),
    ...(copies.length === 0 ? {} : { fromMessage: copies }),
  };
}

/** The metadata of a stored message, as they were. */
export function unpackMetadata({
  message,
  triggerMetadata,
  fromMessage,
}: JsonObject): Record<string, JsonValue> {
  const names = Array.isArray(fromMessage) ? fromMessage.map(String) : [];
  const copies = names.flatMap((name): [string, JsonValue][] => {
    const member = memberOf(message, name);
    return member === undefined ? [] : [[name, member as JsonValue]];
  });
  return {
    ...Object.fromEntries(copies),
    ...(isObject(triggerMetadata) ? triggerMetadata : {}),
  };
}

/** The message's member of that name; the names of metadata begin with a small letter. */
function memberOf(message: unknown, name: string): unknown {
  if (!isObject(message)) return undefined;
  const names = [name, name.charAt(0).toUpperCase() + name.slice(1)];
  const found = names.find((each) => Object.hasOwn(message, each));
  return found === undefined ? undefined : message[found];
}

/** Undefined: it can't be written, and is no copy. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
