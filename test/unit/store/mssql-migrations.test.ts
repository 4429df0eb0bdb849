import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { withoutValues } from "../../../shared/store/mssql/mssql-grant";
import { listObjects, splitBatches } from "../../../shared/store/mssql/mssql-migrations";

const root = join(__dirname, "..", "..", "..");

describe("splitting a script into batches", () => {
  test("a script is split at lines that say GO, in any case, with blanks or a comment beside it", () => {
    const text = "SELECT 1;\nGO\nSELECT 2;\r\n  go  \r\nSELECT 3;\nGo -- the end\nSELECT 4;\nGO";
    expect(splitBatches(text)).toEqual([
      "SELECT 1;",
      "SELECT 2;",
      "SELECT 3;",
      "-- the end\nSELECT 4;",
    ]);
  });

  test("a script isn't split inside comments, texts and quoted names", () => {
    const text = [
      "/* one",
      "GO",
      "*/ SELECT 'it''s",
      "GO",
      "' AS [a",
      "GO",
      ']]b], "x',
      "GO",
      "\"; -- it's",
      "GO",
      "SELECT 2;",
    ].join("\n");
    const batches = splitBatches(text);
    expect(batches).toHaveLength(2);
    expect(batches[1]).toBe("SELECT 2;");
  });

  test("a script isn't split at words that only begin so, nor inside a line", () => {
    const text = "GOTO done;\ndone: SELECT 1 AS GO;\nGO 5\nSELECT GO;\n";
    expect(splitBatches(text)).toEqual([text.trim()]);
  });

  test("the split of a script leaves out batches that hold nothing but comments", () => {
    expect(splitBatches("-- a\nGO\n\nGO\n/* b */\nGO\nSELECT 1;\nGO\n")).toEqual(["SELECT 1;"]);
    expect(splitBatches("")).toEqual([]);
  });

  test("the first migration has one statement that must begin its batch in each", () => {
    const path = join(root, "shared/store/mssql/sql/migrations/0001_baseline.sql");
    const batches = splitBatches(readFileSync(path, "utf8"));
    expect(batches.length).toBeGreaterThan(20);
    const late = batches.filter((batch) =>
      /\n\s*CREATE (?:SCHEMA|PROCEDURE|VIEW)/.test(bare(batch)),
    );
    expect(late).toEqual([]);
  });
});

test("the objects of a script are those it creates", () => {
  const text = `-- CREATE OR ALTER PROCEDURE Taskgate.Commented
CREATE OR ALTER PROCEDURE Taskgate._First @A int AS SELECT 1;
GO
CREATE OR ALTER FUNCTION Taskgate.Second () RETURNS int AS BEGIN RETURN 1; END;
GO
create or alter view Taskgate.vThird AS SELECT 1 AS A;`;
  expect(listObjects(text)).toEqual(["_First", "Second", "vThird"]);
});

test("a grant takes the three values as parameters, which a DBA fills in by hand in the same text", () => {
  const byHand = readFileSync(join(root, "shared/store/mssql/grant_user.sql"), "utf8");
  const byCommand = withoutValues(byHand);
  const removed = byHand.split("\n").filter((line) => !byCommand.split("\n").includes(line));
  expect(removed.map((line) => /^DECLARE (@\w+)/.exec(line)?.[1])).toEqual([
    "@IdentityName",
    "@ClientIdText",
    "@RoleName",
  ]);
  expect(() => withoutValues(byCommand)).toThrow("found 0");
});

/** Without comment lines and empty lines before the first statement. */
function bare(text: string): string {
  return text.replace(/^--[^\n]*\n/gm, "").trim();
}
