// Asks the API. Addresses are relative to the page, api/dashboard: the part before `api` may be anything.

const keyName = "taskgate-function-key";

/** The API wants a function key, or another one. */
export class KeyWanted extends Error {}

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
    throw new Error(
      "this app has no such route: TASKGATE_OPERATOR_API is off, or it is of another version",
    );
  const body = await response.json();
  if (!response.ok) throw new Error(describeProblem(body));
  return body;
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
