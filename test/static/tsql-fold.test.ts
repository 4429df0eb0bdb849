import { createRequire } from "node:module";
import { join } from "node:path";
import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";

/*
 * The schema model beside the checkout reads tables as CREATE TABLE makes them. What migrations add later is folded into that
 * for the check alone: nothing may be lost on the way, and nothing passed over in silence.
 */
interface File {
  readonly name: string;
  readonly text: string;
}

const root = join(__dirname, "../..");
const { foldMigrations } = createRequire(__filename)(join(root, ".ci/tsql-check.cjs")) as {
  foldMigrations(files: readonly File[]): File[];
};
const base = {
  name: "0001_a.sql",
  text: "CREATE TABLE Taskgate.T (\n  Id int NOT NULL,\n  CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));\nGO\nCREATE TABLE Taskgate.U (Id int NOT NULL);\nGO\n",
};

function later(text: string): File {
  return { name: "0002_b.sql", text };
}

describe("added columns", () => {
  test("an added column stands in the table, and the lines behind it stay", () => {
    const text =
      "GO\nALTER TABLE Taskgate.T ADD\n  A int NULL, -- first; not last\n  B int NOT NULL CONSTRAINT DF_T_B DEFAULT (0);\nGO\nSELECT 1;\nGO\n";
    const [first, second] = foldMigrations([base, later(text)]);
    expect(first?.text).toContain(
      "(ALLOW_PAGE_LOCKS = OFF), A int NULL, B int NOT NULL CONSTRAINT DF_T_B DEFAULT (0));\nGO\nCREATE TABLE Taskgate.U",
    );
    expect(second?.text).not.toContain("ALTER");
    expect(second?.text.split("\n").indexOf("SELECT 1;")).toBe(
      text.split("\n").indexOf("SELECT 1;"),
    );
  });

  test.each([
    [
      "of a table that isn't made",
      "ALTER TABLE Taskgate.V ADD A int NULL;\nGO\n",
      "no migration makes",
    ],
    [
      "that become another type",
      "ALTER TABLE Taskgate.T ALTER COLUMN Id bigint;\nGO\n",
      "can't be folded",
    ],
    ["that go", "ALTER TABLE Taskgate.T DROP COLUMN Id;\nGO\n", "can't be folded"],
  ])("%s are refused", (_, text, error) => {
    expect(() => foldMigrations([base, later(text)])).toThrow(error);
  });

  test("an index that is made anew stands in the place of the first one", () => {
    const first = {
      name: "0001_a.sql",
      text: `${base.text}CREATE NONCLUSTERED INDEX IX_T ON Taskgate.T (Id) WITH (ALLOW_PAGE_LOCKS = OFF);\nGO\n`,
    };
    const anew =
      "CREATE UNIQUE NONCLUSTERED INDEX IX_T ON Taskgate.T (Id)\n  WITH (ALLOW_PAGE_LOCKS = OFF, DROP_EXISTING = ON);\nGO\nSELECT 1;\nGO\n";
    const [made, later2] = foldMigrations([first, later(anew)]);
    expect(made?.text).toContain(
      "CREATE UNIQUE NONCLUSTERED INDEX IX_T ON Taskgate.T (Id) WITH (ALLOW_PAGE_LOCKS = OFF);\nGO\n",
    );
    expect(made?.text).not.toContain("CREATE NONCLUSTERED INDEX IX_T");
    expect(later2?.text).not.toContain("INDEX");
    expect(later2?.text.split("\n").indexOf("SELECT 1;")).toBe(3);
    expect(() => foldMigrations([base, later(anew)])).toThrow("no migration before it makes IX_T");
  });

  test("the added columns of the shipped migrations are all folded", () => {
    const folder = join(root, "shared/store/mssql/sql/migrations");
    const files = readdirSync(folder)
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
    const folded = foldMigrations(files);
    expect(folded.map(({ text }) => text).join("")).not.toMatch(/ALTER TABLE \S+ ADD/);
    expect(folded[0]?.text).toMatch(/UQ_TaskDefinition_Name [^;]*TokenStamp bigint/);
  });
});
