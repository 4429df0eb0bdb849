import { StoreForbiddenError } from "../core/errors";
import { operations } from "./operations";
import type { OperationName } from "./operations";
import { toPascalCase, toSnakeCase } from "./operations/operation";

/** Operations that only an operator may call. */
export const operatorOperations: readonly OperationName[] = Object.values(operations)
  .filter(({ right }) => right === "operator")
  .map(({ name }) => name as OperationName);

/** What the server refused to a login. */
export interface MissingRight {
  readonly dialect: "postgres" | "mssql";
  /** The server's own words: the right and the object. */
  readonly said: string;
  /** Was a role to be made? The words don't tell on a server of another language. Default: no. */
  readonly makesRole?: boolean;
  readonly cause: unknown;
}

const names = {
  postgres: {
    worker: "grant taskgate_worker to LOGIN",
    operator: "grant taskgate_operator to LOGIN",
    named: toSnakeCase,
  },
  mssql: {
    worker: "ALTER ROLE TaskgateWorker ADD MEMBER [USER]",
    operator: "ALTER ROLE TaskgateOperator ADD MEMBER [USER]",
    named: toPascalCase,
  },
} as const;

/** Roles are the server's, so the schema's owner may lack the right to make them. */
const makeRoles =
  "The first `npx taskgate migrate` on a PostgreSQL server makes two roles: give the login that right by `alter role LOGIN createrole`, or have them made before by `create role taskgate_worker; create role taskgate_operator`.";

/** The server's words for a right on the database itself: to connect, or to make the schema. On a server of another language they don't tell. */
const ofDatabase = /^permission denied for database (\S+)$/;

/** The login reached the database and lacks a right there: says which one, and the command that gives it. */
export function missingRight({
  dialect,
  said,
  makesRole = false,
  cause,
}: MissingRight): StoreForbiddenError {
  const { worker, operator, named } = names[dialect];
  const reason = said.replace(/\.$/, "");
  const refused = `The database refuses this to the login (${reason}).`;
  if (makesRole) return new StoreForbiddenError(`${refused} ${makeRoles}`, { cause });
  const [, database] = ofDatabase.exec(reason) ?? [];
  if (database !== undefined) {
    const grant = (right: string): string => `\`grant ${right} on database ${database} to LOGIN\``;
    return new StoreForbiddenError(
      `${refused} As owner of the database run ${grant("connect")}; the login of \`npx taskgate migrate\` needs ${grant("create")} as well.`,
      { cause },
    );
  }
  const isOperators = operatorOperations.some((name) =>
    new RegExp(`\\b${named(name)}\\b`).test(said),
  );
  const fix = isOperators
    ? `Only operators may do that: as owner of the schema run \`${operator}\`.`
    : `As owner of the schema run \`${worker}\` for an app, \`${operator}\` for people. A login that has its role already lacks rights of a newer version, or does what only the owner may: run \`npx taskgate migrate\` with the owner's login.`;
  return new StoreForbiddenError(`${refused} ${fix}`, { cause });
}
