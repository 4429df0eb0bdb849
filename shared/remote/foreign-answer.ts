import {
  StoreContractError,
  StoreForbiddenError,
  StoreUncertainError,
  StoreUnavailableError,
} from "../core/errors";
import type { TaskgateError } from "../core/errors";
import { describeRoute, isReading } from "./app-request";
import type { AppRequest } from "./app-request";
import { detailOf } from "./problem-error";
import type { ProblemAnswer } from "./problem-error";
import { describeSignIn } from "./sign-in";
import type { SignIn } from "./sign-in";

/** Answers that aren't those of a route: of the platform, of a proxy, of a sign-in, of the network. */

/** The answer without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
  /** Where a redirect leads; null: it is none. */
  readonly location: string | null;
}

/** Whose answer it is, and the question. */
export interface Asked {
  readonly base: string;
  readonly request: AppRequest;
  readonly signIn: SignIn;
}

/** The caller isn't let in: 401, 403, or a redirect to a sign-in page. `problem`: the app's own words, where there are any. */
export function notLetIn(
  { base, signIn }: Asked,
  status: number,
  problem: ProblemAnswer | null,
): TaskgateError {
  const own = problem === null ? "" : ` ${detailOf(problem).replace(/\.?$/, ".")}`;
  if (status === 403 && problem !== null)
    return new StoreForbiddenError(`The app at ${base} refuses the sign-in (403).${own}`);
  if (status === 403)
    return new StoreForbiddenError(
      `The platform of ${base} refuses the call (403): this computer's address isn't among the app's allowed ones (API_ALLOWED_ADDRESSES), the app is stopped, or ${describeSignIn(signIn)}`,
    );
  return new StoreForbiddenError(
    `The app at ${base} doesn't let the caller in (${String(status)}).${own} What may help: ${describeSignIn(signIn)}`,
  );
}

/** A redirect is never followed: the key would go along. */
export function redirected(asked: Asked, { status, location }: AnswerHead): TaskgateError {
  const target = URL.canParse(location ?? "", asked.base)
    ? new URL(location ?? "", asked.base)
    : null;
  const isSignIn =
    target !== null && (/\/\.auth\//.test(target.pathname) || /(^|\.)login\./.test(target.host));
  if (target === null || isSignIn) return notLetIn(asked, status, null);
  return new StoreContractError(
    `${asked.base} leads elsewhere (${String(status)}), to ${target.origin}: give --url the address of the app itself`,
  );
}

/**
 * An answer that is neither JSON nor a problem of ours, such as a proxy's page. A change that was on its way through one may
 * have been made.
 */
export function strange(asked: Asked, { status, contentType }: AnswerHead): TaskgateError {
  const { base, request } = asked;
  const what = `${String(status)}, ${contentType === "" ? "no type" : contentType.slice(0, 100)}`;
  if (!isPassing(status))
    return new StoreContractError(
      `${base} gave an answer that isn't Taskgate's (${what}): is --url the address of the app's API? A proxy between may have answered, too`,
    );
  const silent = `The app at ${base} gives no answer (${what})`;
  if (isReading(request))
    return new StoreUnavailableError(`${silent}: it may be starting; try again`);
  return new StoreUncertainError(
    `${silent}: the change may still happen. Look before you repeat it`,
  );
}

/** Statuses by which a platform says that the app behind it gives no answer for now. */
export function isPassing(status: number): boolean {
  return [408, 429, 502, 503, 504].includes(status);
}

/** The host knows no such route. `paths`: the routes that the app says it has; null: it says nothing. */
export function routeMissing(
  { base, request }: Asked,
  paths: readonly string[] | null,
): TaskgateError {
  if (paths === null)
    return new StoreContractError(
      `No Taskgate answers at ${base}: is the address right? It is --url https://HOST/api/taskgate in an app that \`taskgate init\` has set up, elsewhere https://HOST/ROUTE-PREFIX/PREFIX: \`routePrefix\` of host.json (api) and \`prefix\` of the app's code`,
    );
  return new StoreContractError(
    `The app at ${base} has no route \`${describeRoute(request)}\`: TASKGATE_OPERATOR_API is off there, or the app has an older version than this command line. --db works on the database itself`,
  );
}

/** Reasons of Node by which nothing has been sent. */
const unsent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  // A port that fetch doesn't go to, such as 22: it has words alone for that.
  "bad port",
]);
/** Of a certificate that isn't trusted. */
const certificate = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|ERR_TLS|ERR_SSL|EPROTO/;

/** May a request that reads be sent again after this, with some hope? */
export function isInterrupted(error: unknown): boolean {
  const code = codeOf(error);
  return !unsent.has(code) && !certificate.test(code);
}

/** The network's own failure. */
export function notReached({ base, request }: Asked, error: unknown): TaskgateError {
  const code = codeOf(error);
  const options = { cause: error };
  const said = code === "" ? "" : ` (${code})`;
  if (certificate.test(code))
    return new StoreUnavailableError(
      `The certificate of ${base} can't be checked${said}; nothing was sent. NODE_EXTRA_CA_CERTS names the file of an authority of your own`,
      options,
    );
  if (unsent.has(code))
    return new StoreUnavailableError(
      `The app at ${base} can't be reached${said}; nothing happened. Is the address right, does the app run, and may this computer reach it?`,
      options,
    );
  if (isReading(request))
    return new StoreUnavailableError(`The connection to ${base} broke${said}; try again`, options);
  return new StoreUncertainError(
    `The connection to ${base} broke${said}: the change may have been made. Look before you repeat it`,
    options,
  );
}

interface Cause {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly errors?: readonly { readonly code?: unknown }[];
}

/** The code of a failure; fetch has it at its cause, and of several addresses at the first one's. */
function codeOf(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: Cause };
  const words = cause?.message === "bad port" ? cause.message : undefined;
  const found = [cause?.code, cause?.errors?.[0]?.code, words].find(
    (each) => typeof each === "string",
  );
  return typeof found === "string" ? found : "";
}
