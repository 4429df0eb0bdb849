import { invalidInput, showValue } from "../admin/read-result";

/** A request of the HTTP API, before it has an address. */

/** What a query may hold; undefined members are left out. */
export type Query = Readonly<Record<string, string | number | boolean | Date | undefined>>;

/** One request. */
export interface AppRequest {
  readonly method: "GET" | "PUT" | "POST";
  /** Parts of the route, as they are before they are encoded. */
  readonly route: readonly string[];
  readonly query?: Query;
  /** The text of a JSON body; left out: none. */
  readonly body?: string;
}

/** Does it change nothing? Then it may be sent again. */
export function isReading({ method }: AppRequest): boolean {
  return method === "GET";
}

/** `GET definitions/greet/tasks`, for people. */
export function describeRoute({ method, route }: AppRequest): string {
  return `${method} ${route.join("/")}`;
}

/**
 * The address of a request. Throws InvalidArgumentError for a name that stands for a folder in every address (`.` and `..`): it
 * can't be a part of one.
 */
export function addressOf(base: string, { route, query = {} }: AppRequest): string {
  const folder = route.find((part) => part === "." || part === "..");
  if (folder !== undefined) {
    const expected = "a name that an address can hold; with --db it can be used";
    throw invalidInput([{ field: "--url", value: showValue(folder), expected }]);
  }
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const tail = parameters.size === 0 ? "" : `?${parameters.toString()}`;
  return `${base}/${route.map(encodeURIComponent).join("/")}${tail}`;
}
