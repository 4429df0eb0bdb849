import { describe, expect, test } from "@jest/globals";
import { statementsNaming } from "./naming";
import { Source } from "./source";

/* Which statements may run a function that is one query, and so must run for an edit of it to show. */

function query(name: string, body: string): Source {
  const text = `CREATE OR ALTER FUNCTION Taskgate.${name} (@Id int)\nRETURNS TABLE\nAS\nRETURN\n  ${body};\n`;
  return new Source(`functions/${name}.sql`, text);
}

function procedure(name: string, body: string): Source {
  const text = `CREATE OR ALTER PROCEDURE Taskgate.${name} @Id int AS\nBEGIN\n  ${body}\nEND;\n`;
  return new Source(`procedures/${name}.sql`, text);
}

const inner = query("_Inner", "SELECT @Id AS Id");
const outer = query("_Outer", "SELECT i.Id FROM Taskgate._Inner(@Id) AS i");
const calls = procedure("Calls", "SELECT o.Id AS Id FROM Taskgate._Outer(@Id) AS o;");
const apart = procedure("Apart", "SELECT @Id AS Id;");

describe("statements that may run a function of one query", () => {
  test("a function of one query is run by statements that name another one which leads to it", () => {
    const naming = statementsNaming(inner, [inner, outer, calls, apart]) ?? [];
    expect(naming.some((key) => key.startsWith("Taskgate.Calls#"))).toBe(true);
    expect(naming.some((key) => key.startsWith("Taskgate.Apart#"))).toBe(false);
  });

  test("a function of one query that a view names may be run by any statement", () => {
    const view = new Source(
      "views/vView.sql",
      "CREATE OR ALTER VIEW Taskgate.vView AS SELECT o.Id FROM Taskgate._Outer(1) AS o;\n",
    );
    expect(statementsNaming(inner, [inner, outer, view])).toBeUndefined();
  });
});
