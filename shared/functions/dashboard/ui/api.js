// Asks the API. Addresses are relative to the page, api/dashboard: the part before `api` may be anything.

const keyName = "taskgate-function-key";

/** The API wants a function key, or another one. */
export class KeyWanted extends Error {}

/** This app has no such route: operators' routes are switched off, or it is of another version. */
class RouteMissing extends Error {}

/** Keeps the key for this tab. */
export function keepKey(key) {
  window.sessionStorage.setItem(keyName, key);
}

/** What the API answers; throws with its reasons when it refuses. */
export async function call(path, init = {}) {
  const headers = { accept: "application/json", ...init.headers };
  const key = window.sessionStorage.getItem(keyName);
  if (key !== null) headers["x-functions-key"] = key;
  const response = await fetch(path, { ...init, headers, cache: "no-store" });
  if ((response.status === 401 || response.status === 403) && !isProblem(response))
    throw new KeyWanted("a function key is wanted");
  if (response.status === 404 && !isProblem(response))
    throw new RouteMissing(
      "this app has no such route: TASKGATE_OPERATOR_API is off, or it is of another version",
    );
  const body = await response.json();
  if (!response.ok) throw new Error(describeProblem(body));
  return body;
}

/** Routes that this app lacks: asked for once for each load of the page. */
const missing = new Set();

/** What a route answers, or null where the app lacks the route. `route` names it for all its addresses. */
export async function askIfThere(route, path = route) {
  if (missing.has(route)) return null;
  try {
    return await call(path);
  } catch (error) {
    if (!(error instanceof RouteMissing)) throw error;
    missing.add(route);
    return null;
  }
}

/** Changes something. */
export function send(method, path, body) {
  const headers = { "content-type": "application/json" };
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

/** Counts what this page has changed. */
let changes = 0;

/** What was asked before is out of date. */
export function noteChange() {
  changes += 1;
  window.dispatchEvent(new window.Event("taskgate-changed"));
}

/** Asks less often than the page looks: the last answer stands until `everyMs` have passed or this page has changed something. */
export function slowly(everyMs, ask) {
  let asked = { atMs: Number.NEGATIVE_INFINITY, changes, answer: undefined };
  return () => {
    const nowMs = window.performance.now();
    if (asked.changes === changes && nowMs - asked.atMs < everyMs) return asked.answer;
    const answer = ask();
    asked = { atMs: nowMs, changes, answer };
    // One that failed is asked anew by the next look.
    answer.catch(() => (asked = { ...asked, atMs: Number.NEGATIVE_INFINITY }));
    return answer;
  };
}
