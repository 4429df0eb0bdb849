import { InvalidArgumentError } from "../core/errors";
import type { ErrorCode } from "../core/errors";
import { describeProblems } from "./problem-list";
import type { Problem, Problems } from "./problem-list";

export type { Problem } from "./problem-list";

/** What reading an input gives: a value or problems, and how a problem shows a value. Loads no schema. */

/** A value that can be used, or everything that is wrong with the input. */
export type ReadResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | ({ readonly ok: false } & Problems);

/** Longest part of a bad value that is shown. */
export const shownLengthMax = 100;

/** Shows a value in a problem: short, on one line. */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${String(value.length)}`;
  if (typeof value === "object") return value === null ? "null" : "an object";
  if (typeof value !== "string") return cut(value);
  return value.length <= shownLengthMax ? JSON.stringify(value) : `${JSON.stringify(cut(value))}..`;
}

/**
 * The value that was read. Throws InvalidArgumentError where there are problems; its `details.problems` has the
 * first 20 and `details.moreProblems` the number of others, its message the same as sentences.
 */
export function take<Value>(read: ReadResult<Value>): Value {
  if (read.ok) return read.value;
  throw invalid(read);
}

/** One problem as a result. */
export function refused(field: string, input: unknown, expected: string): ReadResult<never> {
  return { ok: false, problems: [{ field, value: showValue(input), expected }] };
}

/** The error that stands for problems of a request. */
export function invalidInput(problems: readonly Problem[], code?: ErrorCode): InvalidArgumentError {
  return invalid({ problems }, code);
}

function invalid(found: Problems, code: ErrorCode = "TASKGATE_ARG_INVALID"): InvalidArgumentError {
  const { problems, more = 0 } = found;
  const details = more === 0 ? { problems } : { problems, moreProblems: more };
  return new InvalidArgumentError(describeProblems(found), { code, details });
}

/** The problems that an error carries; [] where it carries none. */
export function problemsOf(error: unknown): readonly Problem[] {
  const details: Record<string, unknown> =
    error instanceof InvalidArgumentError ? { ...error.details } : {};
  return Array.isArray(details["problems"]) ? (details["problems"] as Problem[]) : [];
}

/** How many problems an error counts beyond those that it lists. */
export function moreProblemsOf(error: unknown): number {
  const more = error instanceof InvalidArgumentError ? error.details["moreProblems"] : 0;
  return typeof more === "number" ? more : 0;
}

function cut(text: unknown): string {
  return String(text).slice(0, shownLengthMax);
}
