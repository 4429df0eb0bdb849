import type { HttpRequest } from "@azure/functions";
import { invalidInput, take } from "../../admin/read-result";
import { readDefinitionName, readNothing } from "../../admin/requests";

/** Reads the parts of a request but its body (read-body.ts); throws InvalidArgumentError where a part can't be read. */

/** Query parameters of the Functions host itself: the function key and its name. */
const hostParameters = new Set(["code", "clientId"]);

/** The definition that the route names. */
export function definitionOf(request: HttpRequest): string {
  return take(readDefinitionName(nameIn(request)));
}

/**
 * The name in the route. The Functions host leaves an encoded slash as it is and decodes the rest: `a%2Fb` is what it gives of `a/b`.
 * So a name in which `%2F` itself stands can't be named by a route.
 */
export function nameIn({ params }: HttpRequest): string | undefined {
  return params["name"]?.replaceAll(/%2f/gi, "/");
}

/** The query as an object of texts. A parameter that comes twice is a problem. */
export function queryOf(request: HttpRequest): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of parametersOf(request)) {
    if (hostParameters.has(name)) continue;
    if (Object.hasOwn(query, name)) {
      throw invalidInput([{ field: name, value: "two values", expected: "one value" }]);
    }
    Object.defineProperty(query, name, { value, enumerable: true });
  }
  return query;
}

/** As they stand in the address: the host joins equal names by commas, and the library loses `__proto__`. */
function parametersOf({ url, query }: HttpRequest): URLSearchParams {
  const { search, searchParams } = new URL(url);
  return search === "" ? query : searchParams;
}

/** For routes without a query. */
export function refuseQuery(request: HttpRequest): void {
  take(readNothing(queryOf(request)));
}
