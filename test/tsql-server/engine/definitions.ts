import type { CreateView } from "../syntax/ast-definitions";
import type { CreateFunction, CreateProcedure, Definition } from "../syntax/ast-statements";
import type { Binder } from "./bind/binder";
import type { CatalogObject } from "./catalog";
import { keyOf, printName } from "./catalog";
import type { Connection } from "./connection";
import { alterDatabase } from "./database-settings";
import type { Undo } from "./definition-names";
import { exists, nameParts, refuseSecond } from "./definition-names";
import { dropObjects } from "./drops";
import { checkModule } from "./module-check";
import {
  alterRole,
  changePermission,
  createLogin,
  createPrincipal,
  requireAlter,
  requireOwner,
} from "./principals";
import type { Runner } from "./program";
import { requireReseed, requireRestart, reseedIdentity, restartSequence } from "./restarts";
import { SqlError, sqlErrors } from "./sql-error";
import { requireWritable, runStatement } from "./statement-run";
import type { Steps } from "./steps";
import { addToTable, createIndex, createTable, dropFromTable, truncate } from "./table-changes";
import { resolveTable } from "./table-definition";

/**
 * CREATE, ALTER, DROP: part of the transaction, undone with it. Each locks the definition of its object (Sch-M) against
 * all others [doc: Transaction locking and row versioning guide, schema locks].
 */
export function compileDefinition(statement: Definition, binder: Binder): Runner {
  return function* (frame) {
    const { connection } = frame;
    yield* runStatement(frame, [], function* () {
      requireWritable(connection);
      requireRight(statement, connection);
      if (statement.kind !== "alterDatabase") yield* lockDefinition(connection, nameOf(statement));
      define(statement, connection, binder.fileName);
    });
    return "next";
  };
}

function requireRight(statement: Definition, connection: Connection): void {
  switch (statement.kind) {
    case "truncateTable":
      requireAlter(statement.table, connection);
      return;
    case "restartSequence":
      requireRestart(statement.name, connection);
      return;
    case "reseedIdentity":
      requireReseed(statement.table, connection);
      return;
    default:
      requireOwner(statement.kind, connection);
  }
}

function nameOf(statement: Exclude<Definition, { kind: "alterDatabase" }>): string {
  switch (statement.kind) {
    case "createTable":
    case "createSequence":
    case "restartSequence":
    case "createType":
    case "createProcedure":
    case "createFunction":
    case "createView":
      return keyOf(statement.name);
    case "alterTableAdd":
    case "alterTableDrop":
    case "alterTableSet":
    case "createIndex":
    case "truncateTable":
    case "reseedIdentity":
      return keyOf(statement.table);
    case "createSchema":
    case "createRole":
    case "createUser":
    case "createLogin":
      return statement.name.toLowerCase();
    case "alterRole":
      return statement.role.toLowerCase();
    case "grant":
    case "deny":
    case "revoke":
      return "permissions";
    case "drop":
      return statement.target.class === "index"
        ? keyOf(statement.target.table)
        : statement.target.names.map(keyOf).join(",");
  }
}

function* lockDefinition(connection: Connection, name: string): Steps<void> {
  const object = [...connection.world.catalog.objects].find((one) => keyOf(one) === name);
  const resource = object === undefined ? `OBJECT ${name}` : `OBJECT ${printName(object)}`;
  const ask = { resource, mode: "Sch-M" as const };
  yield* connection.lock({ kind: "lock", resolve: () => ask, onConflict: "wait" });
}

function define(statement: Definition, connection: Connection, fileName: string): void {
  const { catalog } = connection.world;
  const undo = (back: () => void): void => {
    connection.writer.undo.push(back);
  };
  switch (statement.kind) {
    case "createTable":
      createTable(statement, connection, undo);
      return;
    case "alterTableAdd":
      addToTable(statement, connection, undo);
      return;
    case "alterTableDrop":
      dropFromTable(statement, connection, undo);
      return;
    case "alterTableSet":
      catalog.table(statement.table);
      return;
    case "createIndex":
      createIndex(statement, connection, undo);
      return;
    case "createSequence":
      refuseSecond(statement.name, connection);
      undo(
        catalog.put({
          kind: "sequence",
          id: catalog.newId(),
          ...nameParts(statement.name),
          type: statement.type,
          start: statement.start,
          increment: statement.increment,
        }),
      );
      return;
    case "restartSequence":
      restartSequence(statement, connection, undo);
      return;
    case "reseedIdentity":
      reseedIdentity(statement, connection, undo);
      return;
    case "createType": {
      if (catalog.findType(statement.name) !== undefined)
        throw exists("type", printName(statement.name), 219);
      const { schema, name } = nameParts(statement.name);
      const table = resolveTable(statement.definition, catalog, {
        schema: "",
        name,
        isLocal: true,
      });
      undo(catalog.putType({ id: catalog.newId(), schema, name, table }));
      return;
    }
    case "createSchema":
      if (catalog.findSchema(statement.name) !== undefined) throw exists("", statement.name, 2714);
      undo(catalog.putSchema(statement.name, ownerOf(statement.owner, connection)));
      return;
    case "createLogin":
      createLogin(statement, connection, undo);
      return;
    case "createRole":
    case "createUser":
      createPrincipal(statement, connection, undo);
      return;
    case "alterRole":
      alterRole(statement, connection, undo);
      return;
    case "createProcedure":
    case "createFunction":
    case "createView":
      createModule(statement, { connection, fileName }, undo);
      return;
    case "grant":
    case "deny":
    case "revoke":
      changePermission(statement, connection, undo);
      return;
    case "drop":
      dropObjects(statement, connection, undo);
      return;
    case "truncateTable":
      truncate(catalog.table(statement.table), connection, undo);
      return;
    case "alterDatabase":
      alterDatabase(statement, connection);
  }
}

/** The maker of a schema owns it, unless another owner is named [doc: CREATE SCHEMA]. */
function ownerOf(named: string | undefined, connection: Connection): string {
  const { security } = connection.world.catalog;
  const owner = security.find(named ?? connection.user);
  if (owner !== undefined) return owner.name;
  throw new SqlError(
    15151,
    `Cannot find the user '${named ?? ""}', because it does not exist or you do not have permission.`,
  );
}

// ---- modules

function createModule(
  statement: CreateProcedure | CreateFunction | CreateView,
  context: { connection: Connection; fileName: string },
  undo: Undo,
): void {
  const { connection, fileName } = context;
  const { catalog } = connection.world;
  const known = catalog.find(statement.name);
  if (statement.mode === "create") refuseSecond(statement.name, connection);
  if (statement.mode === "alter" && known === undefined)
    throw sqlErrors.unknownObject(printName(statement.name));
  checkModule(statement, connection, fileName);
  const named = { id: known?.id ?? catalog.newId(), ...nameParts(statement.name), fileName };
  const object = moduleObject(statement, named);
  if (known !== undefined && known.kind !== object.kind) {
    throw new SqlError(
      2010,
      `Cannot perform alter on '${printName(statement.name)}' because it is an incompatible object type.`,
    );
  }
  undo(catalog.put(object));
}

function moduleObject(
  statement: CreateProcedure | CreateFunction | CreateView,
  named: { id: number; schema: string; name: string; fileName: string },
): CatalogObject {
  switch (statement.kind) {
    case "createProcedure":
      return { ...named, kind: "procedure", definition: statement };
    case "createFunction":
      return { ...named, kind: "function", definition: statement };
    case "createView":
      return { ...named, kind: "view", definition: statement };
  }
}
