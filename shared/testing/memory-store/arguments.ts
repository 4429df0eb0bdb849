import { InvalidArgumentError } from "../../core/errors";
import { limits } from "../../core/limits";
import type { Limit } from "../../ports/task-store";

/*
 * Tests of input with the texts that the SQL raises: `field: expectation (value)`. What check-
 * input.ts tests for every store isn't tested again. Lengths count characters, as PostgreSQL does.
 */

/** TG422: a value is missing, malformed or out of range. */
export function invalidArgument(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message);
}

/** TG404: what the input names doesn't exist. */
export function unknownArgument(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { code: "TASKGATE_ARG_UNKNOWN" });
}

/** TG413: too many entries or too many bytes. */
export function tooLarge(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { code: "TASKGATE_ARG_TOO_LARGE" });
}

/** TG409: the call comes too late or out of order. */
export function conflict(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { code: "TASKGATE_ARG_CONFLICT" });
}

/** Throws unless the value is a whole number of the range. */
export function expectRange(
  field: string,
  value: number,
  [least, max]: readonly [number, number],
): void {
  if (isWithin(value, least, max)) return;
  throw invalidArgument(`${field}: expected ${String(least)}..${String(max)} (${String(value)})`);
}

/** Throws unless it can be an operator's limit; the databases take -1 for none. */
export function expectLimit(limit: Limit | "code"): void {
  if (typeof limit !== "number" || isWithin(limit, -1, limits.tokensMax)) return;
  throw invalidArgument(
    `limit: expected -1 (none), 0 (nothing starts) or 1..1000 (${String(limit)})`,
  );
}

/** What is wrong with a word that isn't one of those; null: it is one. */
export function wordProblem(word: string, words: readonly string[], shownMax = 220): string | null {
  if (words.includes(word)) return null;
  const others = words.slice(0, -1).join(", ");
  return `expected ${others} or ${words.at(-1) ?? ""} (${left(word, shownMax)})`;
}

/** Throws unless the word is one of those. */
export function expectWord(field: string, word: string, words: readonly string[]): void {
  const problem = wordProblem(word, words);
  if (problem !== null) throw invalidArgument(`${field}: ${problem}`);
}

/** Is the value a whole number of the range? */
export function isWithin(value: number, least: number, max: number): boolean {
  return Number.isInteger(value) && value >= least && value <= max;
}

/** Length as people count it. */
export function characters(text: string): number {
  return Array.from(text).length;
}

/** The first `max` characters. */
export function left(text: string, max: number): string {
  return Array.from(text).slice(0, max).join("");
}
