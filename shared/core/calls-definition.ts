import { createHash } from "node:crypto";
import { describeKnown } from "./near-name";
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

/**
 * What an error says of known names of which there is one at least. Functions under a limit are suggested where their prefix is given,
 * and by their own name where the one that people read is.
 */
export function describeKnownOf(name: string, known: readonly string[]): string | null {
  const shown = known.filter((each) => isCallsDefinition(each) && shownName(each) === name);
  if (shown.length > 0)
    return `these functions are ${shown.map((each) => `\`${each}\``).join(", ")} here`;
  const names = known.filter((each) => isCallsDefinition(name) || !isCallsDefinition(each));
  return names.length === 0 ? null : describeKnown(name, names);
}

/** Is this such a definition? It has no tasks: no hint is left for it. */
export function isCallsDefinition(name: string): boolean {
  return name.startsWith(callsPrefix);
}
