import { messageOf, read, textAt } from "../../core/foreign-value";
import { isLostConnection, isSqlState } from "./postgres-errors";

/*
 * Errors of ORMs where the server refused a statement. Kysely and postgres.js hand on the driver's error, TypeORM and
 * MikroORM copy its members, Knex puts the statement in front of its message, and the others keep it within one of their own.
 */

/** Where that is: Drizzle; Sequelize; Prisma, on an engine of its own, and on an adapter, in two steps and a `cause`. */
const places = ["cause", "original", "meta", "driverAdapterError"] as const;
/** The driver `postgres` has these codes for a connection that broke. */
const lostCodes = new Set(["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED"]);
/** Errors within errors; a circle ends here, too. */
const depthMax = 6;

/**
 * The server's error within an ORM's: its SQLSTATE, message and place, with the ORM's error as its `cause`. Without one, the
 * driver's error of a connection that broke. Without either, the ORM's error itself. `text`: the statement that met it.
 */
export function serverErrorOf(thrown: unknown, text: string): unknown {
  const errors = innermostFirst(thrown, depthMax);
  const found =
    errors.find((error) => isSqlState(stateWithin(error))) ??
    errors.find((error) => isLost(withoutText(error, text)));
  return found === undefined ? thrown : withoutText(found, text, thrown);
}

/** Did the connection break, by the words of a driver that an ORM may use? */
export function isLost(error: unknown): boolean {
  if (isLostConnection(error)) return true;
  return typeof error === "object" && error !== null && lostCodes.has(stateWithin(error));
}

function innermostFirst(thrown: unknown, depth: number): object[] {
  if (typeof thrown !== "object" || thrown === null || depth === 0) return [];
  const inner = places.flatMap((place) => innermostFirst(read(thrown, place), depth - 1));
  return [...inner, thrown];
}

/** Prisma's adapters know some errors by names of their own, and keep the server's beside them. */
function stateWithin(error: object): string {
  return textAt(error, "originalCode") ?? textAt(error, "code") ?? "";
}

/** The error as `pg` would have thrown it. */
function withoutText(error: object, text: string, cause?: unknown): Error {
  const said = textAt(error, "originalMessage") ?? textAt(error, "message") ?? messageOf(error);
  const prefix = `${text} - `;
  const message = said.startsWith(prefix) ? said.slice(prefix.length) : said;
  return Object.assign(new Error(message, { cause }), {
    code: stateWithin(error),
    where: textAt(error, "where"),
    severity: textAt(error, "severity"),
    routine: textAt(error, "routine"),
  });
}
