import type { InvalidArgumentError } from "./errors";
import { describeValue } from "./foreign-value";
import { refusedField } from "./refused-field";

/** The error of a value that a caller without TypeScript gave: it names the field, the expectation, and the value. */
export function wrongValue(field: string, expected: string, value: unknown): InvalidArgumentError {
  return refusedField(field, `${expected} (${describeValue(value)})`);
}

/** Throws InvalidArgumentError, naming the field, unless it is a function. */
export function checkFunction(field: string, value: unknown): void {
  if (typeof value !== "function") throw wrongValue(field, "a function", value);
}

/** Throws InvalidArgumentError, naming the field, unless it is an array; `of` says what it holds. */
export function checkList(field: string, value: unknown, of: string): void {
  if (!Array.isArray(value)) throw wrongValue(field, `a list of ${of}`, value);
}
