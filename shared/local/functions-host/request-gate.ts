/**
 * Keeps strangers out of the local Functions host: pages of other origins in the developer's browser, and names that were
 * made to point to this machine (DNS rebinding). Programs of the same machine (curl, the command line) and the host's own
 * page pass. It looks at headers only and comes before every route.
 *
 * A browser tells the truth about Host, Origin and Sec-Fetch-Site: a page can't write them. The media type is the second
 * wall: a page of another origin can't send JSON without asking first (preflight), and this server never answers that.
 */
import type { IncomingHttpHeaders } from "node:http";

/** What the gate looks at. */
export interface GateRequest {
  readonly method: string;
  /** The request's target as it came: `/api/status`, or `http://127.0.0.1:7071/api/status`. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** How many Host headers came: node keeps the first of several. */
  readonly hostCount: number;
}

/** A request that goes on, with its whole address; or why it doesn't, in a sentence that says what would pass. */
export type GateAnswer =
  | { readonly isOpen: true; readonly url: URL }
  | {
      readonly isOpen: false;
      readonly status: 400 | 403 | 415 | 421;
      readonly title: string;
      readonly detail: string;
      /** The header or part of the request that is wrong. */
      readonly problem: {
        readonly field: string;
        readonly value: string;
        readonly expected: string;
      };
    };

/** Names of this machine that the host answers to. */
const ownNames = ["127.0.0.1", "localhost", "[::1]"];
const reading = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
/** JSON, and one JSON value per line. */
const writableType = /^application\/(?:json|x-ndjson)\s*(?:;|$)/i;
/** Any authority that an address may have: everything else isn't a name that points elsewhere but nonsense. */
const authority = /^(?:[a-z\d._~%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;
/** A foreign value is shown so far. */
const shownLengthMax = 80;

/** Decides about one request to the host that listens on `port`. Pure; never throws. */
export function passGate(request: GateRequest, port: number): GateAnswer {
  const place = placeOf(request, port);
  if (!place.isOpen) return place;
  return strangerIn(request, place.url) ?? unwantedContent(request) ?? place;
}

/** The request's address, if its Host and its target are this host's. */
function placeOf(request: GateRequest, port: number): GateAnswer {
  const { target, headers, hostCount } = request;
  const host = (headers.host ?? "").toLowerCase();
  if (hostCount !== 1 || !authority.test(host))
    return refuse(400, "Host", {
      expected: "one name of this machine with the port",
      value: "none or no name",
    });
  if (!isOwn(host, port)) return misdirected(host, port);
  // Not `new URL(target, base)`: `//elsewhere/` would be another machine.
  const text = target.startsWith("/") ? `http://${host}${target}` : target;
  if (!URL.canParse(text))
    return refuse(400, "Target", { expected: "a path that begins with `/`", value: shown(target) });
  const url = new URL(text);
  if (url.protocol !== "http:" || url.username !== "" || url.password !== "")
    return refuse(400, "Target", { expected: "a path that begins with `/`", value: shown(target) });
  // The normal form leaves out port 80.
  if (url.host !== new URL(`http://${host}`).host) return misdirected(url.host, port);
  return { isOpen: true, url };
}

function isOwn(host: string, port: number): boolean {
  return ownNames.some(
    (name) => host === `${name}:${String(port)}` || (port === 80 && host === name),
  );
}

function misdirected(host: string, port: number): GateAnswer {
  const own = ownNames.map((name) => `${name}:${String(port)}`).join(", ");
  return refuse(421, "Host", { expected: `one of ${own}`, value: shown(host) });
}

/** Another page asks, or a page of another origin made the browser ask. */
function strangerIn({ headers }: GateRequest, url: URL): GateAnswer | null {
  const { origin } = headers;
  if (origin !== undefined && origin !== url.origin)
    return refuse(403, "Origin", {
      expected: `none, or ${url.origin} as of the host's own page`,
      value: shown(origin),
    });
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none")
    return refuse(403, "Sec-Fetch-Site", {
      expected: "`same-origin` or `none`",
      value: shown(site),
      why: "another page's request or link isn't served; write the address into the browser by hand",
    });
  return null;
}

function unwantedContent({ method, headers }: GateRequest): GateAnswer | null {
  if (/\bwebsocket\b/i.test(headers.upgrade ?? ""))
    return refuse(400, "Upgrade", {
      expected: "none",
      value: shown(headers.upgrade ?? ""),
      why: "no function here speaks WebSocket; ask with plain HTTP",
    });
  if (reading.has(method)) return null;
  const type = headers["content-type"];
  const hasBody =
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? "0") !== 0;
  if (type === undefined ? !hasBody : writableType.test(type)) return null;
  return refuse(415, "Content-Type", {
    expected: "application/json or application/x-ndjson",
    value: type === undefined ? "none" : shown(type),
  });
}

function shown(value: string): string {
  const isLong = value.length > shownLengthMax;
  return `\`${value.slice(0, shownLengthMax)}${isLong ? ".." : ""}\``;
}

const titles = {
  400: "The request can't be used",
  403: "Other pages may not use this host",
  415: "The body is of another type",
  421: "The request is meant for another host",
} as const;

/** `why`: said in place of what was expected and given. */
function refuse(
  status: keyof typeof titles,
  field: string,
  { expected, value, why }: { expected: string; value: string; why?: string },
): GateAnswer {
  const detail = `${field}: ${why ?? `expected ${expected}, got ${value}`}`;
  return {
    ...{ isOpen: false, status, title: titles[status], detail },
    problem: { field, value, expected },
  };
}
