import {
  errorCodes,
  InvalidArgumentError,
  StoreConflictError,
  StoreContractError,
  StoreForbiddenError,
  StoreUncertainError,
  StoreUnavailableError,
  TaskgateError,
} from "../core/errors";
import type { ErrorCode } from "../core/errors";

/** Turns an answer of `application/problem+json` into the error that the same call throws beside the database. */

/** The members of a problem that are read; anything may stand in them. */
export interface ProblemAnswer {
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly title?: unknown;
  readonly status?: unknown;
  readonly instance?: unknown;
  readonly problems?: unknown;
  readonly moreProblems?: unknown;
}

/** Longest sentence of an app that is shown. */
const detailLengthMax = 20_000;

/** The error that an app's problem stands for; null: it names no code, as a sign-in that isn't let in. */
export function errorOfProblem(problem: ProblemAnswer): TaskgateError | null {
  const { code } = problem;
  if (problem.status === 500 && !isSetUp(code)) return internalError(problem);
  if (!isErrorCode(code)) return null;
  const message = detailOf(problem);
  const StoreError = storeErrors[code];
  if (StoreError !== undefined) return new StoreError(message);
  if (code.startsWith("TASKGATE_ARG_"))
    return new InvalidArgumentError(message, { code, details: detailsOf(problem) });
  return new TaskgateError(code, message);
}

/** The sentence of a problem. */
export function detailOf({ detail, title }: ProblemAnswer): string {
  const text = [detail, title].find((each) => typeof each === "string" && each !== "");
  return typeof text === "string" ? text.slice(0, detailLengthMax) : "The app gave no reason.";
}

const storeErrors: Partial<Record<ErrorCode, new (message: string) => TaskgateError>> = {
  TASKGATE_STORE_UNAVAILABLE: StoreUnavailableError,
  TASKGATE_STORE_FORBIDDEN: StoreForbiddenError,
  TASKGATE_STORE_CONFLICT: StoreConflictError,
  TASKGATE_STORE_UNCERTAIN: StoreUncertainError,
};

/** A set-up that lacks something is told in words; of any other mistake the app's log has the details. */
function isSetUp(code: unknown): boolean {
  return code === "TASKGATE_PACKAGE_MISSING" || /^TASKGATE_S(ETTINGS|CHEMA_)/.test(String(code));
}

function internalError(problem: ProblemAnswer): TaskgateError {
  const { code, instance } = problem;
  const invocation = typeof instance === "string" ? instance.slice(0, 200) : "not named";
  return new StoreContractError(
    `The app failed (${invocation}). ${detailOf(problem)}`,
    isErrorCode(code) ? { code } : {},
  );
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(errorCodes, code);
}

function detailsOf({ problems, moreProblems }: ProblemAnswer): Record<string, unknown> {
  if (!Array.isArray(problems) || problems.length === 0 || !problems.every(isProblem)) return {};
  const more = typeof moreProblems === "number" ? { moreProblems } : {};
  return { problems, ...more };
}

function isProblem(each: unknown): boolean {
  if (typeof each !== "object" || each === null) return false;
  const { field, value, expected } = each as Record<string, unknown>;
  return [field, value, expected].every((text) => typeof text === "string");
}
