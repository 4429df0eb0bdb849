import { isLoopback } from "../core/loopback";

/** The address of an app as people write it, and where its HTTP API lies below that. */

/** Longest address that is read. */
const lengthMax = 2_000;

/** The host puts it before each route, unless its host.json says otherwise. */
const hostPrefix = "/api";

/**
 * Where the routes begin, without a slash at the end: `https://app.azurewebsites.net` alone becomes `https://app.azurewebsites.net/api`, and an
 * address with a path is taken as it is, such as `https://app.azurewebsites.net/api/taskgate`. Otherwise what is expected: the value isn't
 * shown in it, as a key may stand there by mistake.
 */
export function readAppAddress(
  text: string,
): { readonly base: string } | { readonly expected: string } {
  const form = "https://HOST, or https://HOST/ROUTE-PREFIX/PREFIX where the API has a prefix";
  const url = text.length <= lengthMax && URL.canParse(text) ? new URL(text) : null;
  if (url === null) return { expected: form };
  const { protocol, hostname, pathname } = url;
  if (protocol !== "https:" && protocol !== "http:") return { expected: form };
  if (protocol === "http:" && !isLoopback(hostname.replace(/^\[|\]$/g, "")))
    return { expected: `${form}: http:// is for this machine only, as a key travels along` };
  if (url.username !== "" || url.password !== "")
    return { expected: `${form}, without a user or password` };
  if (url.search !== "" || url.hash !== "")
    return {
      expected: `${form}, without ? and #: a key belongs into TASKGATE_FUNCTION_KEY`,
    };
  const path = pathname.replace(/\/+$/, "");
  return { base: `${url.origin}${path === "" ? hostPrefix : path}` };
}
