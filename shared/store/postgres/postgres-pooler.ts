import { InvalidArgumentError } from "../../core/errors";

/** In the address: `off` behind a pooler that lends a server's connection for one transaction and forgets names. */
const option = "prepared_statements";

/**
 * May statements have names, which the server's connection keeps from one transaction to the next? The address says so by
 * `prepared_statements=on|off`; default on. Throws InvalidArgumentError for another word. docs/operate/poolers.md.
 */
export function readPreparesStatements(address: string): boolean {
  const values = new URL(address).searchParams.getAll(option);
  const [value = "on"] = values;
  if (values.length > 1) {
    throw new InvalidArgumentError(
      `Expected \`${option}\` in the database's address to have one value, got several`,
    );
  }
  if (value === "on" || value === "off") return value === "on";
  throw new InvalidArgumentError(
    `Expected \`${option}\` in the database's address to be on or off, got \`${value.slice(0, 20)}\`. Write ${option}=off behind a pooler that keeps no prepared statements, else leave it out`,
  );
}

/** SQLSTATEs of a name that the connection doesn't know, or knows already: another client had it meanwhile. */
const lostNames: ReadonlySet<string> = new Set(["26000", "42P05"]);

/** What to do where a named statement met a connection that another client had; undefined for another error. */
export function explainLostName(state: string): string | undefined {
  if (!lostNames.has(state)) return undefined;
  return `A pooler between here and PostgreSQL keeps no prepared statements (${state}): write ${option}=off into the database's address, or set max_prepared_statements in PgBouncer 1.21 or later`;
}

/** What a pooler refuses because of its own or our configuration: waiting mends none of it. */
const misconfigured =
  /^(?:unsupported startup parameter|no such (?:user|database)|SASL|password|SSL required|not allowed)/i;

/**
 * A pooler can't just now: its server is away, or none of its connections got free. PgBouncer says 08P01 for all of that
 * and closes the connection.
 */
export function isPoolerTrouble(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error) || !("severity" in error)) return false;
  return error.code === "08P01" && error.severity === "FATAL" && !misconfigured.test(error.message);
}
