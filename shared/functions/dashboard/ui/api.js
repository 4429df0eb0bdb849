// Asks the API. Addresses are relative to the page, api/dashboard: the part before `api` may be anything.

const keyName = "taskgate-function-key";

/** The API wants a function key, or another one. */
export class KeyWanted extends Error {}

/** This app has no such route: operators' routes are switched off, or it is of another version. */
class RouteMissing extends Error {}

/** The settings aren't those that the page has shown: another change came first. */
export class ChangedMeanwhile extends Error {}

/** The API has looked at the request and refuses it: nothing was changed. */
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** No answer came, or none of the API's: whether something was changed isn't known. */
export class AnswerLost extends Error {}

/** Keeps the key for this tab. */
export function keepKey(key) {
  window.sessionStorage.setItem(keyName, key);
}

/** What the API answers; throws with its reasons when it refuses. */
export async function call(path, init = {}) {
  const headers = { accept: "application/json", ...init.headers };
  const key = window.sessionStorage.getItem(keyName);
  if (key !== null) headers["x-functions-key"] = key;
  const response = await ask(path, { ...init, headers, cache: "no-store" });
  if ((response.status === 401 || response.status === 403) && !isProblem(response))
    throw new KeyWanted("a function key is wanted");
  if (response.status === 404 && !isProblem(response))
    throw new RouteMissing(
      "this app has no such route: TASKGATE_OPERATOR_API is off, or it is of another version",
    );
  const body = await read(response);
  if (response.status === 412) throw new ChangedMeanwhile(describeLastChange(body));
  if (response.status === 500 || response.status === 504)
    throw new AnswerLost(describeProblem(body));
  if (!response.ok) throw new Refused(describeProblem(body), response.status);
  const etag = response.headers.get("etag");
  return etag === null ? body : { etag, ...body };
}

async function ask(path, init) {
  try {
    return await fetch(path, init);
  } catch (error) {
    throw new AnswerLost("the app doesn't answer", { cause: error });
  }
}

/** A gateway before the app answers in words of its own. */
async function read(response) {
  try {
    return await response.json();
  } catch (error) {
    throw new AnswerLost(`the answer was ${response.status}, without words`, { cause: error });
  }
}

/** A number for a change that must not be made twice: browsers repeat a request whose connection breaks. */
export function newOperationId() {
  // `crypto.randomUUID` is there by TLS and on this computer only.
  const bytes = window.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Addresses that this app has, by its own description; null: it has none, or hasn't been asked. */
let described = null;

/** Reads them once for each load of the page, so that no route is asked for that isn't there. */
async function readRoutes() {
  try {
    const { paths } = await call("openapi.json");
    return new Set(Object.keys(paths).map((path) => path.replace(/^\//, "")));
  } catch (error) {
    if (error instanceof RouteMissing) return null;
    throw error;
  }
}

/** What a newer route answers, or null where the app lacks it. `route` is its name in the description. */
export async function askIfThere(route, path = route) {
  described ??= readRoutes();
  let routes;
  try {
    routes = await described;
  } catch (error) {
    described = null;
    throw error;
  }
  if (routes === null || !routes.has(route)) return null;
  return call(path);
}

/** Changes something. `shown`, where it is given: settings as the page has shown them; others are left alone. */
export function send(method, path, body, shown = {}) {
  const headers = { "content-type": "application/json" };
  if (shown.etag !== undefined) headers["if-match"] = shown.etag;
  return call(path, { method, headers, body: JSON.stringify(body) });
}

/** A name in an address. */
export const inPath = encodeURIComponent;

/** The API says why; the host alone doesn't. */
function isProblem(response) {
  return (response.headers.get("content-type") ?? "").startsWith("application/problem+json");
}

function describeProblem(body) {
  const problems = (body.problems ?? []).map(
    (entry) => `${entry.field}: expected ${entry.expected}`,
  );
  return problems.length > 0
    ? problems.join("; ")
    : (body.detail ?? body.title ?? "no reason given");
}

/** `changed meanwhile by ada: limit 3 -> 9` */
function describeLastChange({ lastChange, current }) {
  if (current === null) return "it is gone meanwhile";
  if (!lastChange) return "changed meanwhile: look at it as it stands now";
  const { actor, setting, old, new: now } = lastChange;
  const name = setting ?? "";
  const what = name.replace("_override", "").replaceAll("_", " ");
  const value = (text) => text ?? (name.endsWith("_override") ? "as in code" : "none");
  return `changed meanwhile by ${actor}: ${what} ${value(old)} -> ${value(now)}; look at it as it stands now`;
}

/** Counts what this page has changed. */
let changes = 0;

/** Longest wait for the page's next look after a change. */
const lookWaitMs = 1_000;

/**
 * Earlier answers are out of date. Resolves when the page shows the new ones: the next change would be compared with
 * the settings of before.
 */
export async function noteChange() {
  changes += 1;
  const looks = [];
  window.dispatchEvent(new window.CustomEvent("taskgate-changed", { detail: looks }));
  const later = new Promise((resolve) => setTimeout(resolve, lookWaitMs));
  await Promise.race([Promise.all(looks), later]);
}

/**
 * Asks less often than the page looks: the last answer stands until `everyMs` have passed, this page has changed something, or
 * another `of` is asked about.
 */
export function slowly(everyMs, ask) {
  let asked = { of: undefined, atMs: Number.NEGATIVE_INFINITY, changes, answer: undefined };
  return (of) => {
    const nowMs = window.performance.now();
    const isSame = asked.of === of && asked.changes === changes;
    if (isSame && nowMs - asked.atMs < everyMs) return asked.answer;
    const answer = ask(of);
    asked = { of, atMs: nowMs, changes, answer };
    // One that failed is asked anew by the next look.
    answer.catch(() => (asked = { ...asked, atMs: Number.NEGATIVE_INFINITY }));
    return answer;
  };
}
