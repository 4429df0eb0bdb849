import type { HttpRequest } from "@azure/functions";
import { invalidInput, take } from "../../shared/admin/object-reader";
import { readDefinitionName, readNothing } from "../../shared/admin/requests";
import { limits } from "../../shared/core/limits";
import { callerName } from "./sign-in";

/** Reads the parts of a request; throws InvalidArgumentError where a part can't be read. */

/** Escapes may make a body twice as long as the tasks in it. */
const bodyBytesMax = 2 * limits.enqueueBytesMax;
/** Query parameters of the Functions host itself: the function key and its name. */
const hostParameters = new Set(["code", "clientId"]);

/** The definition that the route names. */
export function definitionOf(request: HttpRequest): string {
  return take(readDefinitionName(request.params["name"]));
}

/** The query as an object of texts. A parameter that comes twice is a problem. */
export function queryOf(request: HttpRequest): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of request.query) {
    if (hostParameters.has(name)) continue;
    if (Object.hasOwn(query, name)) {
      throw invalidInput([{ field: name, value: "two values", expected: "one value" }]);
    }
    Object.defineProperty(query, name, { value, enumerable: true });
  }
  return query;
}

/** For routes without a query. */
export function refuseQuery(request: HttpRequest): void {
  take(readNothing(queryOf(request)));
}

/** The body as parsed JSON; undefined where there is none. UTF-8, at most 16 MiB. */
export async function bodyOf(request: HttpRequest): Promise<unknown> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length === 0) return undefined;
  if (bytes.length > bodyBytesMax) {
    const value = `${String(bytes.length)} bytes`;
    const expected = `at most ${String(bodyBytesMax)} bytes; cut the request into several`;
    throw invalidInput([{ field: "body", value, expected }], "TASKGATE_ARG_TOO_LARGE");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    const value = `${String(bytes.length)} bytes that can't be parsed (${reason.slice(0, 100)})`;
    throw invalidInput([{ field: "body", value, expected: "JSON in UTF-8" }]);
  }
}

/** Who calls, for the audit: the name that the platform's sign-in knows, where that is switched on. */
export function callerOf(request: HttpRequest): string {
  return callerName(request);
}
