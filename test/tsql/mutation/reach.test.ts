import { describe, expect, test } from "@jest/globals";
import { bareName, Reach } from "./reach";
import { Source } from "./source";

/* Which modules a case may run: those that it names, and all that they lead to. */

function procedure(name: string, body: string): Source {
  const text = `CREATE OR ALTER PROCEDURE Taskgate.${name} @Id int AS\nBEGIN\n  ${body}\nEND;\n`;
  return new Source(`procedures/${name}.sql`, text);
}

const reach = new Reach([
  procedure("Begins", "EXEC Taskgate._Inner @Id = @Id;"),
  procedure(
    "_Inner",
    "IF @Id = 1 EXEC Taskgate.Begins @Id = 2; EXEC Taskgate._Innermost @Id = @Id;",
  ),
  procedure("_Innermost", "DELETE r FROM T.R AS r WHERE r.Id = @Id;"),
  procedure("Apart", "EXEC Taskgate._Innermost @Id = @Id;"),
]);

describe("modules that may run", () => {
  test("the modules that may run are those of a text and all behind them, in a circle, too", () => {
    const reached = reach.of(["EXEC taskgate.begins @Id = 3"]);
    expect([...reached].sort()).toEqual(["BEGINS", "_INNER", "_INNERMOST"]);
  });

  test("the modules of several texts are all together; words that name none count for nothing", () => {
    const reached = reach.of(["EXEC Taskgate._Innermost @Id = 3", "Beginning", "Apart"]);
    expect([...reached].sort()).toEqual(["APART", "_INNERMOST"]);
  });

  test("the modules that may run are named without schema, in upper and lower case", () => {
    expect(bareName("Taskgate._Inner")).toBe("_INNER");
    expect(bareName(undefined)).toBeUndefined();
  });
});
