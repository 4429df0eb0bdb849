import type { HttpRequest } from "@azure/functions";
import { invalidInput } from "../../admin/read-result";

/** A browser asks before it sends these for a page of another origin (preflight), and what is allowed is the app's own choice. */
const askedType = /^application\/(?:json|x-ndjson)\s*(?:;|$)/i;

/**
 * Keeps pages of other sites from changing something in the name of a person whose browser is let in without a key: behind a
 * sign-in of one's own, and under `func start`. Throws InvalidArgumentError for a page of another site, unless it sends JSON.
 */
export function refuseUnaskedChange(request: HttpRequest): void {
  const type = request.headers.get("content-type");
  if (!isFromOtherSite(request) || (type !== null && askedType.test(type))) return;
  const value = type === null ? "none" : JSON.stringify(type.slice(0, 80));
  const expected = "application/json or application/x-ndjson from a page of another site";
  throw invalidInput([{ field: "content-type", value, expected }]);
}

/**
 * Whether a browser sends this for a page of another site, with the cookies of this one. Browsers name the page's site only to
 * addresses they trust, such as https ones; its origin goes with every change. Programs send neither.
 */
export function isFromOtherSite(request: HttpRequest): boolean {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  return site === null
    ? origin !== null && !hostsOf(request).includes(hostOf(origin))
    : site !== "same-origin" && site !== "none";
}

/** By which names the request's browser may know this app: a proxy in front of it tells its own. */
function hostsOf({ headers, url }: HttpRequest): string[] {
  const forwarded = headers.get("x-forwarded-host")?.split(",", 1)[0]?.trim();
  return [headers.get("host") ?? "", forwarded ?? "", hostOf(url)].filter((host) => host !== "");
}

/** With the port, where it isn't the scheme's own; empty: `null`, the origin of a page without one, or another text. */
function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return "";
  }
}
