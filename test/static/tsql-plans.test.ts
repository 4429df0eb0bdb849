import { describe, expect, test } from "@jest/globals";
import { readTsqlFiles, toFile } from "./tsql/files";
import { readJoins } from "./tsql/joins";

/*
 * A plan with a table variable is made for the rows that the first call has in it. A join of one says what its plan is, so
 * that the first call after a deployment doesn't decide for all others.
 */
const loops = "OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN)";

function linesWithoutPlan(text: string): number[] {
  return readJoins(toFile("sample.sql", text))
    .filter(({ isFixed }) => !isFixed)
    .map(({ line }) => line);
}

describe("joins of table variables", () => {
  test("every join of a table variable has a hint that says its plan", () => {
    const joins = readTsqlFiles().flatMap(readJoins);

    expect(joins.length).toBeGreaterThan(200);
    const open = joins.filter(({ isFixed }) => !isFixed);
    expect(open.map(({ path, line }) => `${path}:${String(line)}`)).toEqual([]);
  });

  test("the header of every procedure with such joins says how it joins", () => {
    const silent = readTsqlFiles()
      .filter((file) => file.path.includes("/procedures/") && readJoins(file).length > 0)
      .filter(({ text }) => !/^-- Plan: .*(?:\n-- {2,}.*)*?\bloops\b/m.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  const table = "DECLARE @vA TABLE (K int NOT NULL PRIMARY KEY);\n";
  test.each([
    ["an inner join", "SELECT a.K FROM @vA AS a INNER JOIN dbo.T AS t ON t.K = a.K"],
    [
      "a join of one with itself",
      "UPDATE a SET K = 1 FROM @vA AS a INNER JOIN @vA AS b ON b.K = a.K",
    ],
    ["an apply", "SELECT a.K FROM @vA AS a CROSS APPLY dbo.F(a.K) AS f"],
    [
      "a subquery with EXISTS",
      "DELETE t FROM dbo.T AS t WHERE EXISTS (SELECT 1 FROM @vA AS a WHERE a.K = t.K)",
    ],
    ["a subquery with IN", "DELETE t FROM dbo.T AS t WHERE t.K IN (SELECT a.K FROM @vA AS a)"],
    [
      "a value by a subquery",
      "SELECT (SELECT MAX(t.V) FROM dbo.T AS t WHERE t.K = a.K) FROM @vA AS a",
    ],
    [
      "a table variable that names no alias",
      "DELETE FROM @vA WHERE K IN (SELECT t.K FROM dbo.T AS t)",
    ],
    [
      "a derived table",
      "INSERT INTO dbo.T (K) SELECT t.K FROM dbo.T AS t INNER JOIN (SELECT a.K FROM @vA AS a) AS d ON d.K = t.K",
    ],
  ])("the rule finds %s without a hint", (_, text) => {
    expect(linesWithoutPlan(`${table}${text};`)).toEqual([2]);
    expect(linesWithoutPlan(`${table}${text} ${loops};`)).toEqual([]);
    expect(
      linesWithoutPlan(`${table}${text} OPTION (USE HINT ('DISABLE_DEFERRED_COMPILATION_TV'));`),
    ).toEqual([]);
  });

  test("the rule finds a join in a condition, where no hint can stand", () => {
    const inner =
      "SELECT 1 FROM @vA AS a WHERE NOT EXISTS (SELECT 1 FROM dbo.T AS t WHERE t.K = a.K)";
    expect(linesWithoutPlan(`${table}IF EXISTS (${inner}) RETURN;`)).toEqual([2]);
  });

  test("the rule finds a hint that leaves the algorithm or the recompilation open", () => {
    const join = "SELECT a.K FROM @vA AS a INNER JOIN dbo.T AS t ON t.K = a.K";
    for (const hint of [
      "MAXDOP 1",
      "FORCE ORDER, KEEPFIXED PLAN",
      "LOOP JOIN, KEEPFIXED PLAN",
      "FORCE ORDER, LOOP JOIN",
      "FORCE ORDER, HASH JOIN, KEEPFIXED PLAN",
    ])
      expect(linesWithoutPlan(`${table}${join} OPTION (${hint});`)).toEqual([2]);
  });

  test.each([
    ["a table variable alone", "SELECT a.K FROM @vA AS a ORDER BY a.K"],
    [
      "a subquery that names no row from outside",
      "UPDATE t SET V = (SELECT COUNT(*) FROM @vA AS a) FROM dbo.T AS t WHERE t.K = 1",
    ],
    ["an output into one", "DELETE t OUTPUT deleted.K INTO @vA (K) FROM dbo.T AS t WHERE t.K = 1"],
    ["a union", "SELECT a.K FROM @vA AS a UNION ALL SELECT t.K FROM dbo.T AS t"],
    ["a join of tables", "SELECT t.K FROM dbo.T AS t INNER JOIN dbo.U AS u ON u.K = t.K"],
  ])("the rule passes over %s", (_, text) => {
    expect(linesWithoutPlan(`${table}${text};`)).toEqual([]);
  });
});
