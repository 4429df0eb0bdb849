import { readFile, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import type { HttpRequest, HttpResponseInit } from "@azure/functions";

const folder = join(__dirname, "ui");
const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

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
  // The files of the page are those in its folder; nothing else can be asked for.
  const contentType = contentTypes[extname(name)];
  if (contentType === undefined || !(await readdir(folder)).includes(name)) {
    return {
      status: 404,
      body: "There is no such page.\n",
      headers: { "x-content-type-options": "nosniff" },
    };
  }
  // The page names its parts relative to an address without a slash at the end.
  const [, last] = /([^/]*)\/$/.exec(new URL(request.url).pathname) ?? [];
  if (last !== undefined) return { status: 308, headers: { location: `../${last}` } };
  const body = await readFile(join(folder, name));
  return { status: 200, body, headers: { ...headers, "content-type": contentType } };
}
