import type { Statement } from "../syntax/ast-statements";
import { parseScript } from "../syntax/parser";

/** What undoes a set-up, batch by batch, for a database that is used again: objects go in the opposite order. */
export function cleanUpOf(setup: string): string[] {
  return parseScript(setup, "setup")
    .flatMap(({ statements }) => statements)
    .map(dropOf)
    .filter((text) => text !== undefined)
    .reverse();
}

function dropOf(statement: Statement): string | undefined {
  switch (statement.kind) {
    case "createTable":
      return `DROP TABLE IF EXISTS ${printName(statement.name)};`;
    case "createProcedure":
      return `DROP PROCEDURE IF EXISTS ${printName(statement.name)};`;
    case "createIndex":
    case "insert":
      // They go with their table.
      return undefined;
    default:
      throw new Error(
        `A set-up may make tables, indexes, procedures and rows, found ${statement.kind}`,
      );
  }
}

function printName(name: { schema: string | undefined; name: string }): string {
  return `[${name.schema ?? "dbo"}].[${name.name}]`;
}
