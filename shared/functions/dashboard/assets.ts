import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HttpRequest, HttpResponseInit } from "@azure/functions";

/** The page's modules, each one subject. */
const scripts = [
  "api",
  "app",
  "audit",
  "audit-table",
  "batch-card",
  "batches",
  "bulk-actions",
  "change",
  "chart",
  "definition",
  "definition-controls",
  "definition-lists",
  "definition-pace",
  "definition-statistics",
  "dom",
  "failure-list",
  "failures",
  "format",
  "group-table",
  "groups",
  "limits",
  "overview",
  "place",
  "progress",
  "rate-fields",
  "results",
  "run-in",
  "schedule-run",
  "schedule-table",
  "schedules",
  "search",
  "selection",
  "sentence",
  "slots",
  "stop",
  "task",
  "task-actions",
  "task-filters",
  "task-search",
  "tasks",
  "timeline",
  "trend",
  "trouble",
  "watermarks",
  "workers",
] as const;
const styles = ["style", "controls", "views"] as const;

/** The files of the page, by the name in the route; nothing else can be asked for. */
const assets: ReadonlyMap<string, string> = new Map([
  ["index.html", "text/html; charset=utf-8"],
  ...styles.map((name) => [`${name}.css`, "text/css; charset=utf-8"] as const),
  ...scripts.map((name) => [`${name}.js`, "text/javascript; charset=utf-8"] as const),
]);

/** Nothing from elsewhere, nothing inline, in no frame. */
const headers = {
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/** `GET api/dashboard` is the page, `GET api/dashboard/app.js`, `/style.css` and so on are its parts. */
export async function serveAsset(request: HttpRequest): Promise<HttpResponseInit> {
  const name = request.params["file"] ?? "index.html";
  const contentType = assets.get(name);
  if (contentType === undefined) {
    return {
      status: 404,
      body: "There is no such page.\n",
      headers: { "x-content-type-options": "nosniff" },
    };
  }
  // The page names its parts relative to an address without a slash at the end.
  const [, last] = /([^/]*)\/$/.exec(new URL(request.url).pathname) ?? [];
  if (last !== undefined) return { status: 308, headers: { location: `../${last}` } };
  const body = await readFile(join(__dirname, "ui", name));
  return { status: 200, body, headers: { ...headers, "content-type": contentType } };
}
