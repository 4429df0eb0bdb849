/** Writes a function's HTTP response, as the library converted it, to a connection. */
import type { ServerResponse } from "node:http";
import type { RpcHttpCookie, RpcHttpData } from "./core-api";

const SAME_SITE = { lax: "Lax", strict: "Strict", explicitNone: "None", none: undefined } as const;

/** Ends the response. A function that answered nothing gives 204. */
export function writeResponse(response: ServerResponse, data: RpcHttpData | undefined): void {
  if (data === undefined) {
    response.writeHead(204).end();
    return;
  }
  response.statusCode = Number(data.statusCode ?? "200");
  for (const [name, value] of Object.entries(data.headers ?? {})) {
    // The connection is the server's own business.
    if (!/^(?:content-length|transfer-encoding|connection)$/i.test(name)) {
      response.setHeader(name, value);
    }
  }
  const cookies = (data.cookies ?? []).map(formatCookie);
  if (cookies.length > 0) response.appendHeader("set-cookie", cookies);
  const content = data.body?.bytes ?? data.body?.string ?? "";
  response.end(content);
}

function formatCookie(cookie: RpcHttpCookie): string {
  const parts = [`${cookie.name ?? ""}=${encodeURIComponent(cookie.value ?? "")}`];
  const add = (name: string, value: string | number | null | undefined): void => {
    if (value !== undefined && value !== null) parts.push(`${name}=${String(value)}`);
  };
  const expires = cookie.expires?.value?.seconds;
  add("Expires", typeof expires === "number" ? new Date(expires * 1_000).toUTCString() : null);
  add("Max-Age", cookie.maxAge?.value);
  add("Domain", cookie.domain?.value);
  add("Path", cookie.path?.value);
  add("SameSite", SAME_SITE[cookie.sameSite ?? "none"]);
  if (cookie.secure?.value === true) parts.push("Secure");
  if (cookie.httpOnly?.value === true) parts.push("HttpOnly");
  return parts.join("; ");
}
