import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import { root } from "./markdown";
import { readTestTitles } from "./read-test-titles";
import { faultOf } from "./title-rule";

/** Here a row has the whole title: a sentence of a table, which is read in its own file or by people. */
const rowsAreTitles: ReadonlySet<string> = new Set([
  "test/unit/worker/next-pool-call.test.ts",
  "test/source-texts/scene.ts",
  "test/support/store-setup.ts",
  "test/tsql/litmus/litmus.test.ts",
  "test/unit/core/next-call.test.ts",
]);
const isRow = (path: string, title: string): boolean =>
  rowsAreTitles.has(path) && /^(?:%s\.?|XX|X \(X\))$/.test(title);

const titles = globSync(["test/**/*.ts"], { cwd: root, ignore: ["**/node_modules/**"] }).flatMap(
  (path) =>
    readTestTitles(path, readFileSync(join(root, path), "utf8")).map((one) => ({ path, ...one })),
);

describe("the titles of all tests", () => {
  test("the titles are found in tests, contracts, helpers and tables of scenes", () => {
    expect(titles.length).toBeGreaterThan(4_000);
    for (const kind of [
      /\.test\.ts$/,
      /\.contract\.ts$/,
      /-suite\.ts$/,
      /^test\/source-texts\/scenes\//,
    ])
      expect(titles.some(({ path }) => kind.test(path))).toBe(true);
  });

  test("every title is a sentence of at most 25 words whose subject is named", () => {
    const faults = titles.flatMap(({ path, line, title }) => {
      const fault = isRow(path, title) ? undefined : faultOf(title);
      return fault === undefined ? [] : [`${path}:${String(line)} ${fault}: ${title}`];
    });
    expect(faults).toEqual([]);
  });

  test("every file whose rows are titles still has such a title", () => {
    const used = titles.filter(({ path, title }) => isRow(path, title)).map(({ path }) => path);
    expect([...rowsAreTitles].filter((path) => !used.includes(path))).toEqual([]);
  });
});

// No source text is S9: the numbers prove nothing.
describe("the rule for titles", () => {
  test.each([
    ["code", "S9.1: the limit holds"],
    ["long", `the limit holds ${"again ".repeat(23)}`],
    ["opening", "is refused outside of a transaction"],
    ["opening", "takes a new address, and a lost one"],
    ["opening", "reads its own rows"],
    ["opening", "register once, are granted what the limit says"],
    ["opening", "of a first slice that is bad nothing is done"],
    ["opening", "without a terminal nothing is asked"],
    ["opening", "where a page stops it tells the last task"],
    ["opening", "it is asked for once"],
    ["opening", "what an execution did stays in the log"],
    ["opening", "one that is over stays as it is"],
    ["opening", "those of a cancelled batch come back"],
    ["opening", "told twice counts once"],
    ["opening", "dead: given up at once"],
    ["opening", "newest first, page by page"],
    ["verb", "an empty list and more than 1000"],
    ["verb", "a task twice: all are named"],
    ["verb", "%s: %s"],
  ])("the rule finds the fault %s in a title: %s", (fault, title) => {
    expect(faultOf(title)).toBe(fault);
  });

  test.each([
    "a limit of 2 lets 2 run and not one more (S9.1, S9.2)",
    "the limit holds (S9.3 to S9.6)",
    "register_app keeps the definitions",
    "withTokens refuses %s and names the field",
    "gate.enqueue stores the task",
    "$title is refused",
    "tasks wait for their group",
    "reads of two stores run two at a time",
    "dead and cancelled tasks don't count",
    "each call of a client is one statement",
    "two promotions of one definition take turns",
    "work tells the tokens held by all",
    "without a limit, every task starts",
    "a broken promise is a fault: a call waits",
  ])("the rule finds no fault in a sentence: %s", (title) => {
    expect(faultOf(title)).toBeUndefined();
  });
});

describe("the reader of titles", () => {
  test("the reader takes titles of tables, of conditions and of named helpers, and no others", () => {
    const code = `
      const sqlCase = testWith(setup, "raw sql");
      const here = isHere ? test : test.skip;
      describe("group", () => {
        test("one", body);
        test.each(rows)(\`two of \${name}\`, body);
        auditTest("three", body);
        sqlCase("four", body);
        here("five", body);
        until("no title", body);
        /x/.test("no title");
      });`;
    expect(readTestTitles("test/a.test.ts", code)).toEqual([
      { line: 5, title: "one" },
      { line: 6, title: "two of X" },
      { line: 7, title: "three" },
      { line: 8, title: "four" },
      { line: 9, title: "five" },
    ]);
  });

  test("the reader takes the titles of scenes from their tables", () => {
    const code = 'const scenes = [{ numbers: "S9.1", title: "a claim ends" }];';
    expect(readTestTitles("test/source-texts/scenes/a.ts", code)).toEqual([
      { line: 1, title: "a claim ends" },
    ]);
    expect(readTestTitles("test/source-texts/a.ts", code)).toEqual([]);
  });
});
