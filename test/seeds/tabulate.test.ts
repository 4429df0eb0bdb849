import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import { numbersOf, readBehaviours, root } from "./read-seeds";
import { places, printTable, tabulate } from "./tabulate";
import type { JestResults, SeedTable } from "./tabulate";

/* Results of a made-up run become the table; the numbers here are of the table's own, not proofs. */
const behaviours = [
  { number: "S0.1", text: "never more", proof: "-" },
  { number: "S0.2", text: "a row", proof: "-" },
  { number: "S4.16", text: "a lock", proof: "cannot occur" },
];

function suite(
  file: string,
  tests: readonly (readonly [title: string, status: string])[],
  describeTitle = "suite",
): JestResults["testResults"][number] {
  return {
    name: join(root, file),
    status: "passed",
    assertionResults: tests.map(([title, status]) => ({
      ancestorTitles: [describeTitle],
      title,
      status,
    })),
  };
}

const results: JestResults = {
  testResults: [
    suite("test/contract/model.test.ts", [
      ["S0.1, S0.2: as many", "passed"],
      ["S0.1: fails", "failed"],
    ]),
    suite("test/contract/concurrency.postgres.test.ts", [["S0.1 to S0.2: amid load", "passed"]]),
    suite("test/contract/tsql-simulated.test.ts", [
      ["S0.2: needs more (skipped: nothing waits)", "pending"],
    ]),
    suite(
      "test/contract/mssql.test.ts",
      [["S0.1: as many", "pending"]],
      "SQL Server (skipped: no address)",
    ),
    suite("test/e2e/other.test.ts", [["S0.2: elsewhere", "failed"]]),
    {
      name: join(root, "test/contract/postgres.test.ts"),
      status: "failed",
      message: "Cannot connect\nmore",
      assertionResults: [],
    },
  ],
};

describe("the table", () => {
  const table = tabulate(results, behaviours);
  const statuses = table.behaviours.map((row) =>
    Object.values(row.stores).map((cell) => cell.status),
  );

  test("says of each behaviour and store: passed, failed, skipped, missing", () => {
    expect(statuses).toEqual([
      ["fail", "pass", "missing", "skipped"],
      ["pass", "pass", "skipped", "missing"],
      ["missing", "missing", "missing", "missing"],
    ]);
    expect(table.behaviours.map((row) => row.status)).toEqual(["fail", "pass", "missing"]);
    expect(table.summary.model).toEqual({ pass: 1, fail: 1, skipped: 0, missing: 1 });
  });

  test("gives the reason of what was skipped or is missing, and what could not be run", () => {
    const [first, second, third] = table.behaviours;
    expect(first?.stores["SQL Server"].reasons).toEqual(["no address"]);
    expect(second?.stores["T-SQL"].reasons).toEqual(["nothing waits"]);
    expect(third?.remark).toBe("cannot occur");
    expect(table.problems).toEqual([
      "test/contract/postgres.test.ts could not be run: Cannot connect",
    ]);
    const printed = printTable(table);
    expect(printed).toMatch(/^S0\.1 +never more +fail +pass +missing +skipped$/m);
    expect(printed).toContain("missing: S4.16 a lock (cannot occur)");
  });

  test("is written as JSON by the program, which ends with 1 when a behaviour failed", () => {
    const folder = mkdtempSync(join(tmpdir(), "taskgate-seeds-"));
    const [input, output] = [join(folder, "results.json"), join(folder, "table.json")];
    const run = (given: JestResults): number => {
      writeFileSync(input, JSON.stringify(given));
      try {
        execFileSync(
          process.execPath,
          [
            ...["-r", "./test/support/register-swc.cjs", "test/seeds/seeds-process.ts"],
            ...["--results", input, "--json", output],
          ],
          { cwd: root, stdio: "pipe" },
        );
        return 0;
      } catch (error) {
        return (error as { status: number }).status;
      }
    };
    expect(run(results)).toBe(1);
    expect(run({ testResults: results.testResults.slice(1, 5) })).toBe(0);
    const written = JSON.parse(readFileSync(output, "utf8")) as SeedTable;
    expect(written.behaviours).toHaveLength(71);
    expect(written.behaviours[0]?.stores.PostgreSQL.status).toBe("pass");
    rmSync(folder, { recursive: true });
  });
});

describe("the files that are run", () => {
  test("are all that carry numbers, through the contract and the cases as well", () => {
    const own = /^test\/(static|seeds)\//;
    const carrying = globSync(["test/**/*.test.ts"], { cwd: root })
      .filter((file) => !own.test(file))
      .filter((file) =>
        /["'`][^"'`\n]*\bS[0-4]\.\d+\b/.test(readFileSync(join(root, file), "utf8")),
      );
    expect(carrying.filter((file) => !places.some(({ path }) => path.test(file)))).toEqual([]);
    const folders = globSync(["test/**/*.ts"], { cwd: root, ignore: ["test/**/*.test.ts"] })
      .filter((file) => !own.test(file))
      .filter((file) =>
        /["'`][^"'`\n]*\bS[0-4]\.\d+\b/.test(readFileSync(join(root, file), "utf8")),
      )
      .map((file) => file.split("/").slice(0, -1).join("/"));
    expect([...new Set(folders)].sort()).toEqual([
      "test/contract",
      "test/simulation/tsql/cases",
      "test/simulation/tsql/cases/list",
    ]);
  });

  test("a range is all of its numbers, and the page has 71", () => {
    expect(numbersOf("S0.3 to S0.5, K3")).toEqual(["S0.3", "S0.4", "S0.5"]);
    expect(readBehaviours()).toHaveLength(71);
  });
});
