import { createRequire } from "node:module";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { root } from "./read-behaviours";
import { places } from "./tabulate";
import type { JestResults } from "./tabulate";

/*
 * The titles of all tests that are run for the table, without running them: the files are loaded with a `describe` and
 * a `test` that only write down. A test that would be skipped is told from its title, as the table does.
 */
type Assertion = JestResults["testResults"][number]["assertionResults"][number];
type Row = readonly unknown[] | Readonly<Record<string, unknown>> | string | number | boolean;

const load = createRequire(__filename);

/** What jest would report if every test passed. Call it outside of jest. */
export function collectTitles(): JestResults {
  const ancestors: string[] = [];
  let found: Assertion[] = [];
  const within = (title: string, body: (...values: never[]) => void, values: unknown[]): void => {
    ancestors.push(title);
    body(...(values as never[]));
    ancestors.pop();
  };
  const add = (title: string, status: string): void => {
    found.push({ ancestorTitles: [...ancestors], title, status });
  };
  plantGlobals(within, add);
  const files = globSync(["test/**/*.test.ts"], { cwd: root })
    .filter((file) => places.some(({ path }) => path.test(file)))
    .toSorted();
  return {
    testResults: files.map((file) => {
      found = [];
      const name = join(root, file);
      load(name);
      return { name, status: "passed", assertionResults: found.filter(isRun) };
    }),
  };
}

/** Of the tests under a planted fault only those that it is meant for are run (test/support/planted-environment.cjs). */
function isRun({ ancestorTitles, title }: Assertion): boolean {
  return ancestorTitles.every(
    (ancestor) => globalThis.plantedFaults?.get(ancestor)?.tests.test(title) ?? true,
  );
}

/** Puts others in the place of jest's own globals. */
function plantGlobals(
  within: (title: string, body: (...values: never[]) => void, values: unknown[]) => void,
  add: (title: string, status: string) => void,
): void {
  const nothing = (): void => undefined;
  let skips = 0;
  const describe = Object.assign(
    (title: string, body: () => void) => {
      within(title, body, []);
    },
    {
      each: (rows: readonly Row[]) => (title: string, body: (...values: never[]) => void) => {
        for (const row of rows) within(filled(title, row), body, valuesOf(row));
      },
      skip: (title: string, body: () => void) => {
        skips += 1;
        within(title, body, []);
        skips -= 1;
      },
    },
  );
  const tell = (status: string) => (title: string) => {
    add(title, skips > 0 ? "pending" : status);
  };
  const each = (rows: readonly Row[]) => (title: string) => {
    for (const row of rows) tell("passed")(filled(title, row));
  };
  const test = Object.assign(tell("passed"), { skip: tell("pending"), each });
  const hooks = { beforeAll: nothing, beforeEach: nothing, afterAll: nothing, afterEach: nothing };
  const path = load.resolve("@jest/globals");
  const exports = { describe, test, expect: nothing, jest: {}, ...hooks };
  load.cache[path] = { ...module, id: path, filename: path, loaded: true, exports };
}

const valuesOf = (row: Row): unknown[] => (Array.isArray(row) ? [...(row as unknown[])] : [row]);

/** The title of one row: `%s` and `$name` are its values. */
function filled(title: string, row: Row): string {
  const values = valuesOf(row);
  const named = (name: string): unknown =>
    typeof row === "object" && !Array.isArray(row)
      ? (row as Readonly<Record<string, unknown>>)[name]
      : undefined;
  return title
    .replace(/\$(\w+)/g, (text, name: string) => say(named(name) ?? text))
    .replace(/%[sidjo]/g, () => say(values.shift()));
}

const say = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
