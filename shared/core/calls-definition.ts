import { createHash } from "node:crypto";
import { refusedField } from "./refused-field";
import { checkKey } from "./text";

/** Before the names of limits. */
export const callsPrefix = "calls:";
/** UTF-16 units of several names that a definition's name shows: 200 units hold them, with prefix and hash. */
const shownMax = 180;
/** Behind several names. */
const hashAtEnd = / #[0-9a-f]{12}$/;

/**
 * The definition under which functions draw from shared limits without tasks: its executions hold their tokens. The names of
 * several limits come in one order, for any order of the caller.
 */
export function callsDefinition(limits: readonly string[]): string {
  const [only = ""] = limits;
  if (limits.length === 1) return `${callsPrefix}${only}`;
  const hash = createHash("sha256").update(JSON.stringify(limits)).digest("hex").slice(0, 12);
  const shown = limits.join(" & ").slice(0, shownMax).toWellFormed();
  return `${callsPrefix}${shown} #${hash}`;
}

/** Throws InvalidArgumentError, naming the field, unless tasks, or a definition that has tasks, can have the name. */
export function checkTaskName(field: string, name: string): void {
  checkKey(field, name);
  if (!isCallsDefinition(name)) return;
  throw refusedField(
    field,
    `a name that doesn't begin with ${callsPrefix} (${name}): under such names functions hold tokens of limits`,
  );
}

/** The name of its one limit; null: it has several, or it is no such definition. */
export function limitOfCalls(name: string): string | null {
  if (!isCallsDefinition(name) || hashAtEnd.test(name)) return null;
  return name.slice(callsPrefix.length);
}

/** How people read a definition's name: `functions under partner-api`, of several limits `functions under one & other`. */
export function shownName(name: string): string {
  if (!isCallsDefinition(name)) return name;
  return `functions under ${name.slice(callsPrefix.length).replace(hashAtEnd, "")}`;
}

/** Is this such a definition? It has no tasks: no hint is left for it. */
export function isCallsDefinition(name: string): boolean {
  return name.startsWith(callsPrefix);
}
