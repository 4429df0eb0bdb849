import type { Statement } from "../../tsql-server/syntax/ast-statements";
import { parseScript } from "../../tsql-server/syntax/parser";

/** What undoes a set-up, batch by batch, for a database that is used again: objects go in the opposite order. */
export function cleanUpOf(setup: string): string[] {
  return parseScript(setup, "setup")
    .flatMap(({ statements }) => statements)
    .map(dropOf)
    .filter((text) => text !== undefined)
    .reverse();
}

const droppable = {
  createTable: "TABLE",
  createProcedure: "PROCEDURE",
  createFunction: "FUNCTION",
  createView: "VIEW",
  createSequence: "SEQUENCE",
  createType: "TYPE",
} as const;

function dropOf(statement: Statement): string | undefined {
  switch (statement.kind) {
    case "createTable":
    case "createProcedure":
    case "createFunction":
    case "createView":
    case "createSequence":
    case "createType":
      return `DROP ${droppable[statement.kind]} IF EXISTS ${printName(statement.name)};`;
    case "createSchema":
      return `DROP SCHEMA IF EXISTS [${statement.name}];`;
    case "createUser":
      return `DROP USER IF EXISTS [${statement.name}];`;
    case "createRole":
      return `DROP ROLE IF EXISTS [${statement.name}];`;
    case "alterRole":
      // A role with members isn't dropped.
      return `ALTER ROLE [${statement.role}] DROP MEMBER [${statement.member}];`;
    case "createIndex":
    case "insert":
    case "grant":
      // They go with their table, or with their owner.
      return undefined;
    default:
      throw new Error(
        `A set-up may make tables, modules, users, roles and rows, found ${statement.kind}`,
      );
  }
}

function printName(name: { schema: string | undefined; name: string }): string {
  return `[${name.schema ?? "dbo"}].[${name.name}]`;
}
