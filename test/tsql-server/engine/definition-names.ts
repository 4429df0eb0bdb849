import type { ObjectName } from "../syntax/ast";
import type { Connection } from "./connection";
import { SqlError } from "./sql-error";

/** What definitions share: how they are undone, and that a name is taken once. */

export type Undo = (back: () => void) => void;

export function nameParts(name: ObjectName): { schema: string; name: string } {
  return { schema: name.schema ?? "dbo", name: name.name };
}

export function exists(kind: string, name: string, number: number): SqlError {
  return new SqlError(
    number,
    `There is already an object named '${name}' in the database${kind === "" ? "" : ` (${kind})`}.`,
    { state: 6 },
  );
}

export function refuseSecond(name: ObjectName, connection: Connection): void {
  const { catalog } = connection.world;
  if (name.schema !== undefined && catalog.findSchema(name.schema) === undefined) {
    throw new SqlError(
      2760,
      `The specified schema name "${name.schema}" either does not exist or you do not have permission to use it.`,
    );
  }
  if (catalog.find(name) !== undefined) throw exists("", name.name, 2714);
}
