import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import { notApplicable, ownStores } from "./not-applicable";
import { numbersOf, readBehaviours, root } from "./read-behaviours";
import { places, printTable, tabulate } from "./tabulate";
import type { JestResults, BehaviourTable } from "./tabulate";

/* Results of a made-up run become the table; the numbers here are of the table's own, not proofs. */
const behaviours = [
  { number: "S0.1", text: "never more", proof: "-" },
  { number: "S0.2", text: "a row", proof: "-" },
  { number: "S4.16", text: "a lock", proof: "-" },
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
    suite("test/contract/memory.test.ts", [
      ["as many run (S0.1, S0.2)", "passed"],
      ["one fails (S0.1)", "failed"],
    ]),
    suite("test/contract/concurrency.postgres.test.ts", [
      ["limits hold amid load (S0.1 to S0.2)", "passed"],
    ]),
    suite("test/source-texts/scenes/postgres.test.ts", [
      ["a planted fault is found: one too many (S0.1)", "passed"],
      ["a planted fault is found: a lock is left (S4.16)", "passed"],
    ]),
    suite(
      "test/source-texts/planted/postgres.test.ts",
      [["as many run (S0.2)", "passed"]],
      "planted, S0.2: x",
    ),
    suite("test/contract/tsql-simulated.test.ts", [
      ["a task needs more (S0.2) (skipped: nothing waits)", "pending"],
    ]),
    suite(
      "test/contract/mssql.test.ts",
      [["as many run (S0.1)", "pending"]],
      "SQL Server (skipped: no address)",
    ),
    suite("test/e2e/other.test.ts", [["one runs elsewhere (S0.2)", "failed"]]),
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

  test("the table says of each behaviour and store: passed, failed, skipped, n/a", () => {
    expect(statuses).toEqual([
      ["fail", "pass", "fail", "skipped"],
      ["pass", "pass", "skipped", "skipped"],
      ["n/a", "fail", "fail", "skipped"],
    ]);
    expect(table.behaviours.map((row) => row.status)).toEqual(["fail", "pass", "fail"]);
    expect(table.summary.memory).toEqual({ pass: 1, fail: 1, skipped: 0, "n/a": 1 });
  });

  test("the table counts the planted faults that were found; by themselves they show nothing", () => {
    const planted = table.behaviours.map((row) => row.stores.PostgreSQL.planted);
    expect(planted).toEqual([1, 1, 1]);
    expect(table.behaviours[2]?.stores.PostgreSQL.status).toBe("fail");
  });

  test("the table gives the reason of skipped and n/a cells, and names cells that could not be run or have no test or fault", () => {
    const [first, second, third] = table.behaviours;
    expect(first?.stores["SQL Server"].reasons).toEqual(["no address"]);
    expect(second?.stores["T-SQL"].reasons).toEqual(["nothing waits"]);
    expect(third?.stores.memory.reasons).toEqual([notApplicable.memory?.["S4.16"]]);
    expect(table.problems).toEqual([
      "test/contract/postgres.test.ts could not be run: Cannot connect",
      "S0.1 has no planted fault on memory",
      "S0.1 has no test on T-SQL",
      "S0.2 has no planted fault on memory",
      "S0.2 has no planted fault on T-SQL",
      "S4.16 has no test on T-SQL",
    ]);
    const printed = printTable(table);
    expect(printed).toMatch(/^S0\.1 +never more +fail +pass +fail +skipped$/m);
    expect(printed).toContain(`n/a: ${notApplicable.memory?.["S4.16"] ?? ""}`);
  });

  test("the table is written as JSON by the program, which ends with 1 when a behaviour failed", () => {
    const folder = mkdtempSync(join(tmpdir(), "taskgate-source-texts-"));
    const [input, output] = [join(folder, "results.json"), join(folder, "table.json")];
    const run = (given: JestResults): number => {
      writeFileSync(input, JSON.stringify(given));
      try {
        execFileSync(
          process.execPath,
          [
            ...["-r", "./test/support/register-swc.cjs", "test/source-texts/behaviours-process.ts"],
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
    const written = JSON.parse(readFileSync(output, "utf8")) as BehaviourTable;
    expect(written.behaviours).toHaveLength(71);
    expect(written.behaviours[0]?.stores.PostgreSQL.status).toBe("pass");
    rmSync(folder, { recursive: true });
  });
});

describe("the table of the tests that there are", () => {
  let table: BehaviourTable;

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), "taskgate-source-texts-"));
    const file = join(folder, "table.json");
    const script = [
      "-r",
      "./test/support/register-swc.cjs",
      "test/source-texts/behaviours-process.ts",
    ];
    const ended = spawnSync(process.execPath, [...script, "--titles", "--json", file], {
      cwd: root,
      encoding: "utf8",
    });
    if (ended.error !== undefined) throw ended.error;
    table = JSON.parse(readFileSync(file, "utf8")) as BehaviourTable;
    rmSync(folder, { recursive: true });
  });

  test("the table has a test of each of the 71 behaviours on each store, and for each a planted fault that fails it", () => {
    expect(table.problems).toEqual([]);
    for (const store of ownStores)
      expect(
        table.behaviours.filter((row) => ["fail", "skipped"].includes(row.stores[store].status)),
      ).toEqual([]);
  });

  test("the table is without a test only where a store has no locks, plans or connections to show it", () => {
    const cells = ownStores.map((store) => [
      store,
      table.behaviours
        .filter((row) => row.stores[store].status === "n/a")
        .map(({ number }) => number),
    ]);
    expect(Object.fromEntries(cells)).toEqual({
      memory: ["S0.12", "S0.13", "S0.15", "S0.16", "S1.12", "S2.2", "S3.11", "S4.16"],
      PostgreSQL: ["S1.12", "S3.11"],
      "T-SQL": [],
    });
    for (const reasons of Object.values(notApplicable))
      for (const reason of Object.values(reasons)) expect(reason).toMatch(/\w+ \w+/);
  });
});

describe("the files that are run", () => {
  test("the files that are run are all that carry numbers, through the contract and the cases as well", () => {
    const own = /^test\/(static\/|source-texts\/[^/]+$)/;
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
      "test/source-texts/planted",
      "test/source-texts/scenes",
      "test/tsql/cases",
      "test/tsql/cases/list",
    ]);
  });

  test("a range is all of its numbers, and the page has 71", () => {
    expect(numbersOf("S0.3 to S0.5, K3")).toEqual(["S0.3", "S0.4", "S0.5"]);
    expect(readBehaviours()).toHaveLength(71);
  });
});
