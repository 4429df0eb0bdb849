// Addresses within the page, the part behind `#`: `#tasks/17`, `#definitions/greet`, `#tasks?definition=greet&state=dead`.

import { inPath } from "./api.js";

/** Views under the names that links of before have. */
const renamed = { workers: "executions" };

/** What the address asks for: a view, one object of it, and a query. */
export function readPlace() {
  const [path, query = ""] = window.location.hash.replace(/^#\/?/, "").split("?", 2);
  const [name, ...rest] = path.split("/");
  const view = Object.hasOwn(renamed, name) ? renamed[name] : name;
  const id = rest.length === 0 ? null : decode(rest.join("/"));
  return { view, id, query: new window.URLSearchParams(query) };
}

/** Has the reader gone to another query since a look began? Another look draws that one. */
export function isPast(query) {
  return String(readPlace().query) !== String(query);
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const placeOf = {
  task: (id) => `#tasks/${inPath(id)}`,
  definition: (name) => `#definitions/${inPath(name)}`,
  batch: (id) => `#batches/${inPath(id)}`,
  tasks: (definition, state) => makePlace("tasks", { definition, state }),
  failures: (definition) => makePlace("failures", { definition }),
  groups: (definition, key) => makePlace("groups", { definition, key }),
  audit: (object) => makePlace("audit", { object }),
  search: (text) => makePlace("search", { q: text }),
};

/** Members that are null, undefined or empty are left out. */
export function makePlace(view, members) {
  const kept = Object.entries(members).filter(([, value]) => value != null && value !== "");
  return kept.length === 0 ? `#${view}` : `#${view}?${new window.URLSearchParams(kept)}`;
}

/** Changes the query of the place that is shown, without a step to go back to. */
export function replacePlace(view, members) {
  window.history.replaceState(null, "", makePlace(view, members));
}
