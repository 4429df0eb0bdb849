import type {
  AlterRole,
  CreateLogin,
  CreateRole,
  CreateUser,
  Permission,
} from "../syntax/ast-definitions";
import type { ObjectName } from "../syntax/ast";
import type { Connection } from "./connection";
import type { Undo } from "./definition-names";
import type { Principal, Scope } from "./security";
import { SqlError } from "./sql-error";

/** Logins, users, roles and what they may do: what makes and changes them. */

/** Error 15151 as the server words it. */
function missing(what: string, name: string, verb = "find"): SqlError {
  return new SqlError(
    15151,
    `Cannot ${verb} the ${what} '${name}', because it does not exist or you do not have permission.`,
  );
}

export function createLogin(statement: CreateLogin, connection: Connection, undo: Undo): void {
  const { security } = connection.world.catalog;
  const { name, password } = statement;
  if (security.findLogin(name) !== undefined)
    throw new SqlError(15025, `The server principal '${name}' already exists.`);
  undo(security.putLogin({ name, password }));
}

export function createPrincipal(
  statement: CreateRole | CreateUser,
  connection: Connection,
  undo: Undo,
): void {
  const { catalog } = connection.world;
  const { security } = catalog;
  const { name } = statement;
  if (security.find(name) !== undefined) {
    throw new SqlError(
      15023,
      `User, group, or role '${name}' already exists in the current database.`,
    );
  }
  const id = catalog.newId();
  if (statement.kind === "createRole") {
    undo(security.put({ id, name, type: "R", sid: undefined }));
    return;
  }
  const { sid, login, password } = statement;
  if (login !== undefined) refuseLogin(login, connection);
  undo(security.put({ id, name, type: statement.type ?? "S", sid, login, password }));
}

/** A login that isn't there, or is a user here already. */
function refuseLogin(login: string, connection: Connection): void {
  const { security } = connection.world.catalog;
  if (security.findLogin(login) === undefined) {
    throw new SqlError(15007, `'${login}' is not a valid login or you do not have permission.`);
  }
  const wanted = login.toLowerCase();
  if ([...security.principals].some((user) => user.login?.toLowerCase() === wanted))
    throw new SqlError(15063, "The login already has an account under a different user name.");
}

export function alterRole(statement: AlterRole, connection: Connection, undo: Undo): void {
  const { security } = connection.world.catalog;
  const { role, member, action } = statement;
  if (security.find(role)?.type !== "R") throw missing("role", role, "alter");
  if (security.find(member) === undefined) throw missing("principal", member, action);
  undo(security.setMembership(role, member, action === "add"));
}

/** GRANT, DENY, REVOKE. */
export function changePermission(statement: Permission, connection: Connection, undo: Undo): void {
  const { security } = connection.world.catalog;
  const scope = scopeOf(statement.on, connection);
  const principals = statement.principals.map((name): Principal => {
    const principal = security.find(name);
    if (principal === undefined) throw missing("user", name);
    return principal;
  });
  const state = statement.kind === "revoke" ? undefined : statement.kind;
  for (const principal of principals) {
    for (const right of statement.rights)
      undo(security.setPermission(scope, { right, principal, state }));
  }
}

function scopeOf(on: Permission["on"], connection: Connection): Scope {
  if (on === undefined) return { class: "database" };
  const { catalog } = connection.world;
  if (on.class === "schema") {
    const schema = catalog.findSchema(on.name.name);
    if (schema === undefined) throw missing("schema", on.name.name);
    return { class: "schema", name: schema.name };
  }
  const found = on.class === "type" ? catalog.findType(on.name) : catalog.find(on.name);
  if (found === undefined) throw missing(on.class, on.name.name);
  return { class: on.class, id: found.id };
}

/** EXECUTE AS USER: owners may be any user, others only themselves: IMPERSONATE isn't modelled. */
export function executeAs(user: string, connection: Connection): void {
  const { security } = connection.world.catalog;
  const principal = security.find(user);
  const isAllowed = security.isOwner(connection.user) || principal?.name === connection.user;
  if (principal === undefined || principal.type === "R" || !isAllowed) {
    throw new SqlError(
      15517,
      `Cannot execute as the database principal because the principal "${user}" does not exist, this type of principal cannot be impersonated, or you do not have permission.`,
    );
  }
  connection.contexts.push(connection.user);
  connection.user = principal.name;
}

/** REVERT takes back what this module has begun, nothing of its caller's [doc: REVERT]. */
export function revert(connection: Connection): void {
  if (connection.contexts.length <= connection.contextsBefore) return;
  connection.user = connection.contexts.pop() ?? connection.user;
}

/** Who acts outside a module is who acted before it [doc: EXECUTE AS, the context ends with the module]. */
export function enterContext(connection: Connection): () => void {
  const { user, contextsBefore } = connection;
  const count = connection.contexts.length;
  connection.contextsBefore = count;
  return () => {
    connection.contexts.length = count;
    connection.contextsBefore = contextsBefore;
    connection.user = user;
  };
}

// ---- what only owners may do

const makers: Readonly<Record<string, string>> = {
  createTable: "CREATE TABLE",
  createType: "CREATE TYPE",
  createSchema: "CREATE SCHEMA",
  createRole: "CREATE ROLE",
  createProcedure: "CREATE PROCEDURE",
  createFunction: "CREATE FUNCTION",
  createView: "CREATE VIEW",
};

/**
 * Definitions are for the database's owners: rights to make and change objects aren't modelled one by one. Error 262 for
 * the new object; 15247 for all else, where a server has a number for each statement.
 */
export function requireOwner(kind: string, connection: Connection): void {
  if (connection.isOwner) return;
  const made = makers[kind];
  if (made !== undefined) {
    throw new SqlError(
      262,
      `${made} permission denied in database '${connection.world.databaseName}'.`,
      { class: 14 },
    );
  }
  throw new SqlError(15247, "User does not have permission to perform this action.");
}

/** TRUNCATE and SET IDENTITY_INSERT need ALTER, as if there were no such table [doc: error 1088]. */
export function requireAlter(table: ObjectName, connection: Connection): void {
  if (connection.isOwner) return;
  throw new SqlError(
    1088,
    `Cannot find the object "${table.schema ?? "dbo"}.${table.name}" because it does not exist or you do not have permissions.`,
    { state: 7 },
  );
}
