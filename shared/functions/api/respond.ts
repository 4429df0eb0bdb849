import { setMaxListeners } from "node:events";
import { messageOf } from "../../core/foreign-value";
import type { HttpRequest, HttpResponseInit, InvocationContext } from "@azure/functions";
import type { Admin } from "../../admin/create-admin";
import { describeProblems } from "../../admin/problem-list";
import { moreProblemsOf, problemsOf } from "../../admin/read-result";
import type { Problem } from "../../admin/read-result";
import { TaskgateError } from "../../core/errors";
import type { ErrorCode } from "../../core/errors";
import { SignInError } from "./sign-in";
import { awayRetrySeconds, inTime, isLate } from "../in-time";
import { PartlyDone } from "./partly-done";
import { isStream } from "./read-body";
import type { ReadTurns } from "./read-turns";
import { SettingsChanged } from "./settings-changed";
import { problemsToTell } from "./store-problem";

/**
 * One way from a request to a response, for every route: JSON when it went well, problem+json (RFC 9457) when it didn't.
 * Handlers throw; nothing else decides a status code.
 */

/** What a route answers when it went well. */
export interface Answer {
  /** Default 200. */
  readonly status?: number;
  readonly body: unknown;
  /** Beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a route does. Its input is the request, its tool the admin; `ending` is aborted when the app ends. */
export type Endpoint = (request: HttpRequest, admin: Admin, ending: AbortSignal) => Promise<Answer>;

/** A handler as `app.http` takes it. Never rejects. */
export type ApiHandler = (
  request: HttpRequest,
  context: InvocationContext,
) => Promise<HttpResponseInit>;

/** Of every answer: no page of another origin loads it, and nothing takes it for another type. */
const closedHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Of an app that never ends. */
const noEnd = new AbortController().signal;
setMaxListeners(0, noEnd);

/** The checks before an endpoint. */
export interface Entry {
  /** It is asked for at each request, so that a failed start is tried again. */
  readonly admin: () => Promise<Admin>;
  /** Comes first and throws for callers that may not come in. */
  readonly letIn?: (request: HttpRequest) => void;
  /** Aborted when the app ends; default never. */
  readonly ending?: AbortSignal;
  /** Of all routes together; absent: reads don't wait for each other. */
  readonly readTurns?: ReadTurns;
}

/** Makes a handler of an endpoint. */
export function createHandler(entry: Entry, endpoint: Endpoint): ApiHandler {
  return async (request, context) => {
    try {
      entry.letIn?.(request);
      const answer = await answerOf(request, entry, endpoint);
      return {
        status: answer.status ?? 200,
        jsonBody: answer.body,
        headers: { ...closedHeaders, ...answer.headers },
      };
    } catch (error) {
      return respondToError(error, context);
    }
  };
}

/** A stream may take as long as it likes: each of its slices has its own bound. */
async function answerOf(
  request: HttpRequest,
  { admin, ending = noEnd, readTurns }: Entry,
  endpoint: Endpoint,
): Promise<Answer> {
  const reads = request.method === "GET";
  const bounds = { reads, ending };
  if (isStream(request)) return endpoint(request, await inTime(admin(), bounds), ending);
  const ask = async (): Promise<Answer> => endpoint(request, await admin(), ending);
  if (!reads || readTurns === undefined) return inTime(ask(), bounds);
  const over = new AbortController();
  try {
    return await inTime(readTurns.run(ask, over.signal), bounds);
  } finally {
    over.abort();
  }
}

interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

const badRequest: ProblemKind = { status: 400, title: "The request can't be used" };
const misconfigured: ProblemKind = { status: 500, title: "Taskgate is not set up completely" };
/** Of the app's login in the database: whose key let the request in doesn't matter. */
const forbidden: ProblemKind = {
  status: 403,
  title: "The app's login lacks a right in the database",
};
const notLetIn: Readonly<Record<SignInError["status"], ProblemKind>> = {
  401: { status: 401, title: "Nobody is signed in" },
  403: { status: 403, title: "The sign-in may not do that" },
};
const changed: ProblemKind = { status: 412, title: "The settings aren't those that were read" };
const late: ProblemKind = { status: 503, title: "The database doesn't answer" };
const internal: ProblemKind = { status: 500, title: "Something went wrong inside" };

const problemKinds: Readonly<Record<ErrorCode, ProblemKind>> = {
  TASKGATE_ARG_INVALID: badRequest,
  TASKGATE_ARG_UNKNOWN: { status: 404, title: "There is nothing of that name" },
  TASKGATE_ARG_TOO_LARGE: { status: 413, title: "The request is too large" },
  TASKGATE_ARG_CONFLICT: { status: 409, title: "The request comes too late or out of order" },
  TASKGATE_ARG_RULE: { status: 422, title: "The request breaks a rule of the task's kind" },
  TASKGATE_ARG_OWNER: { status: 409, title: "The definition belongs to another app" },
  TASKGATE_SETTINGS: misconfigured,
  TASKGATE_PACKAGE_MISSING: misconfigured,
  TASKGATE_APP_BROKEN: misconfigured,
  TASKGATE_SCHEMA_MISSING: misconfigured,
  TASKGATE_SCHEMA_TOO_OLD: misconfigured,
  TASKGATE_SCHEMA_TOO_NEW: misconfigured,
  TASKGATE_SCHEMA_EDITED: misconfigured,
  TASKGATE_STORE_UNAVAILABLE: {
    status: 503,
    title: "The database can't be reached; nothing happened",
  },
  TASKGATE_STORE_FORBIDDEN: forbidden,
  TASKGATE_STORE_CONFLICT: { status: 503, title: "The database was too busy; nothing happened" },
  TASKGATE_STORE_UNCERTAIN: {
    status: 504,
    title: "The database's answer was lost; it may have happened",
  },
  TASKGATE_STORE_CONTRACT: internal,
  TASKGATE_STORE_CONTEXT: internal,
  TASKGATE_LEASE_LOST: internal,
  TASKGATE_LIMIT_REACHED: internal,
  TASKGATE_ASSERTION: internal,
};

/** What an answer tells beside the error itself. */
interface Told {
  readonly error: unknown;
  readonly members?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

function toldOf(thrown: unknown): Told {
  if (thrown instanceof PartlyDone) return { error: thrown.cause, members: { done: thrown.done } };
  if (!(thrown instanceof SettingsChanged)) return { error: thrown };
  const { cause: error, current, lastChange } = thrown;
  if (current === null) return { error, members: { current } };
  const members = { current: current.settings, lastChange };
  return { error, members, headers: { etag: current.tag } };
}

function respondToError(thrown: unknown, context: InvocationContext): HttpResponseInit {
  const { error, members, headers } = toldOf(thrown);
  const code = error instanceof TaskgateError ? error.code : null;
  const known = isLate(error) ? late : kindOf(error, code);
  const kind = thrown instanceof SettingsChanged ? changed : known;
  // Who calls gets the number of the log entry, not what may be an inside matter.
  // A missing right concerns the administrator, too.
  if (kind.status >= 500 || kind === forbidden) context.error(error);
  const isInside = kind === internal;
  const more = moreProblemsOf(error);
  const problems = problemsToTell(error);
  const body = {
    type: code === null ? "about:blank" : `urn:taskgate:error:${code}`,
    title: kind.title,
    status: kind.status,
    detail: isInside ? "The log of the function app has the details." : detailOf(error, problems),
    instance: `urn:taskgate:invocation:${context.invocationId}`,
    ...(code === null ? {} : { code }),
    problems,
    ...(more === 0 ? {} : { moreProblems: more }),
    ...members,
  };
  const isTemporary = kind.status === 503;
  return {
    status: kind.status,
    body: JSON.stringify(body),
    headers: {
      "content-type": "application/problem+json",
      ...closedHeaders,
      ...headers,
      ...(isTemporary ? { "retry-after": String(awayRetrySeconds) } : {}),
    },
  };
}

/** The error's own sentence, in the caller's words. */
function detailOf(error: unknown, problems: readonly Problem[]): string {
  const isOwn = problems.length === 0 || problemsOf(error).length > 0;
  return isOwn ? messageOf(error) : describeProblems({ problems });
}

function kindOf(error: unknown, code: ErrorCode | null): ProblemKind {
  if (error instanceof SignInError) return notLetIn[error.status];
  return code === null ? internal : problemKinds[code];
}
