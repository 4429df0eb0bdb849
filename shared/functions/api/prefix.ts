import { refusedField } from "../../core/refused-field";

/** Where the HTTP API and the dashboard lie. */
export interface ApiPlace {
  /**
   * Put before each route, behind the host's `api/`: `taskgate` makes `api/taskgate/status`. The names of the functions
   * begin with it, too. 1..50 letters, digits and hyphens; default: no prefix. The host keeps what begins with
   * `admin` or `runtime`.
   */
  readonly prefix?: string;
}

/** A function's name and its route, behind the prefix. Throws InvalidArgumentError for a prefix that isn't one. */
export function placeRoute(
  { name, route }: { readonly name: string; readonly route: string },
  { prefix }: ApiPlace,
): { name: string; route: string } {
  if (prefix === undefined) return { name, route };
  if (!/^(?!admin|runtime)[a-z][a-z0-9-]{0,49}$/i.test(prefix)) {
    throw refusedField(
      "prefix",
      `1 to 50 letters, digits and hyphens, a letter first, not "admin" or "runtime" (${prefix.slice(0, 100)})`,
    );
  }
  return { name: `${prefix}-${name}`, route: `${prefix}/${route}` };
}
