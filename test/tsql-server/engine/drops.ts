import type { Drop, DroppableClass } from "../syntax/ast-definitions";
import type { ObjectName } from "../syntax/ast";
import { printName } from "./catalog";
import type { CatalogObject } from "./catalog";
import type { Connection } from "./connection";
import type { Undo } from "./definition-names";
import { SimulationError, SqlError } from "./sql-error";

/** DROP. */

const numbers: Partial<Record<DroppableClass, number>> = {
  user: 15151,
  role: 15151,
  schema: 15151,
  login: 15151,
};

function missing(kind: DroppableClass, name: string): SqlError {
  const text = `Cannot drop the ${kind} '${name}', because it does not exist or you do not have permission.`;
  return new SqlError(numbers[kind] ?? 3701, text, { state: 5 });
}

export function dropObjects(statement: Drop, connection: Connection, undo: Undo): void {
  const { target } = statement;
  if (target.class === "index") {
    throw new SimulationError(`DROP INDEX ${target.name} isn't modelled`);
  }
  for (const name of target.names) {
    const back = dropOne(target.class, name, connection);
    if (back !== undefined) back.forEach(undo);
    else if (!statement.ifExists) throw missing(target.class, printName(name));
  }
}

/** How to undo it; undefined: there is no such thing. */
function dropOne(
  kind: DroppableClass,
  name: ObjectName,
  connection: Connection,
): (() => void)[] | undefined {
  const { catalog } = connection.world;
  switch (kind) {
    case "schema": {
      if (catalog.findSchema(name.name) === undefined) return undefined;
      const inside = [...catalog.objects].find(
        (object) => object.schema.toLowerCase() === name.name.toLowerCase(),
      );
      if (inside !== undefined) {
        throw new SqlError(
          3729,
          `Cannot drop schema '${name.name}' because it is being referenced by object '${inside.name}'.`,
        );
      }
      return [catalog.removeSchema(name.name)];
    }
    case "role":
    case "user": {
      const { security } = catalog;
      const principal = security.find(name.name);
      return principal === undefined ? undefined : [security.remove(principal)];
    }
    case "login": {
      const { security } = catalog;
      const login = security.findLogin(name.name);
      return login === undefined ? undefined : [security.removeLogin(login)];
    }
    case "type": {
      const type = catalog.findType(name);
      return type === undefined ? undefined : [catalog.removeType(type)];
    }
    default:
      return dropObject(kind, name, connection);
  }
}

function dropObject(
  kind: CatalogObject["kind"],
  name: ObjectName,
  connection: Connection,
): (() => void)[] | undefined {
  const { catalog } = connection.world;
  const object = catalog.find(name);
  if (object === undefined || object.kind !== kind) return undefined;
  const back = [catalog.remove(object)];
  if (object.kind === "table") back.push(connection.world.removeTable(object.table));
  return back;
}
