import type { AlterRole, CreateRole, CreateUser, Permission } from "../syntax/ast-definitions";
import { printName } from "./catalog";
import type { Connection } from "./connection";
import type { Undo } from "./definition-names";
import { SqlError } from "./sql-error";

/** Roles, users and rights: nobody checks rights, but what they name must be there. */

export function createPrincipal(
  statement: CreateRole | CreateUser,
  connection: Connection,
  undo: Undo,
): void {
  const { catalog } = connection.world;
  if (catalog.findPrincipal(statement.name) !== undefined) {
    throw new SqlError(
      15023,
      `User, group, or role '${statement.name}' already exists in the current database.`,
    );
  }
  const isRole = statement.kind === "createRole";
  undo(
    catalog.putPrincipal({
      id: catalog.newId(),
      name: statement.name,
      type: isRole ? "R" : (statement.type ?? "S"),
      sid: isRole ? undefined : statement.sid,
    }),
  );
}

export function alterRole(statement: AlterRole, connection: Connection, undo: Undo): void {
  const { catalog } = connection.world;
  for (const name of [statement.role, statement.member]) {
    if (catalog.findPrincipal(name) === undefined) {
      throw new SqlError(
        15151,
        `Cannot alter the role '${statement.role}', because it does not exist or you do not have permission (${name}).`,
      );
    }
  }
  undo(catalog.setMembership(statement.role, statement.member, statement.action === "add"));
}

export function checkPermission(statement: Permission, connection: Connection): void {
  const { catalog } = connection.world;
  const { on } = statement;
  const isThere =
    on === undefined ||
    (on.class === "object" && catalog.find(on.name) !== undefined) ||
    (on.class === "type" && catalog.findType(on.name) !== undefined) ||
    (on.class === "schema" && catalog.findSchema(on.name.name) !== undefined);
  const missing = statement.principals.find((name) => catalog.findPrincipal(name) === undefined);
  if (isThere && missing === undefined) return;
  const what = missing ?? (on === undefined ? "" : printName(on.name));
  throw new SqlError(
    15151,
    `Cannot find the object or principal '${what}', because it does not exist or you do not have permission.`,
  );
}
