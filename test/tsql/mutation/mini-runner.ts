import { createRequire } from "node:module";
import { format } from "node:util";
import type { expect as Expect } from "@jest/globals";

/*
 * Runs suites that import describe, test, hooks and expect from "@jest/globals" in a plain Node process: a mutant is
 * tried against a hundred tests in a second, where jest needs that long to begin. Only what the contract suite uses is
 * there; anything else is missing and fails when it is called. Inside jest this can't be used: jest has its own modules.
 */

/** A test that the suites declared. */
export interface CollectedTest {
  /** Titles of the groups around it and its own. */
  readonly title: string;
  /** Runs its hooks and its body; rejects with the first failure. undefined: declared as skipped. */
  readonly run: (() => Promise<void>) | undefined;
}

type Body = () => unknown;

interface Group {
  readonly title: string;
  readonly outer: Group | undefined;
  readonly before: Body[];
  readonly after: Body[];
}

let group: Group | undefined;
let collected: CollectedTest[] = [];

/** Declares suites and gives their tests in order. */
export function collectTests(declare: () => void): CollectedTest[] {
  if (group !== undefined) throw new Error("Tests are being collected already");
  group = { title: "", outer: undefined, before: [], after: [] };
  collected = [];
  try {
    declare();
    return collected;
  } finally {
    group = undefined;
  }
}

/** From now on `require("@jest/globals")` gives the functions here. Call it before a suite is loaded. */
export function installGlobals(): void {
  const path = require.resolve("@jest/globals");
  // What jest's own expect is made of; jest adds snapshots and mocks, which no contract test uses.
  const brought = createRequire(createRequire(path).resolve("@jest/expect"));
  const { expect } = brought("expect") as { expect: typeof Expect };
  const exports = { describe, test, beforeEach, afterEach, expect };
  require.cache[path] = Object.assign(Object.create(module) as NodeJS.Module, { exports });
}

function current(): Group {
  if (group === undefined) throw new Error("Tests and hooks are declared by collectTests only");
  return group;
}

function describe(title: string, declare: () => void): void {
  const outer = current();
  group = { title, outer, before: [], after: [] };
  declare();
  group = outer;
}

function beforeEach(hook: Body): void {
  current().before.push(hook);
}

function afterEach(hook: Body): void {
  current().after.push(hook);
}

interface MiniTest {
  (title: string, body: Body): void;
  /** One test per row; `%s`, `%d`, `%i` in the title stand for its values. */
  each(table: readonly unknown[]): (title: string, body: (...row: unknown[]) => unknown) => void;
  skip(title: string): void;
}

const test: MiniTest = Object.assign(
  (title: string, body: Body): void => {
    const around = fromOutside(current());
    collected.push({ title: titleOf(around, title), run: () => runInside(around, body) });
  },
  {
    each:
      (table: readonly unknown[]) =>
      (title: string, body: (...row: unknown[]) => unknown): void => {
        for (const entry of table) {
          const row: unknown[] = Array.isArray(entry) ? entry : [entry];
          test(format(title, ...row), () => body(...row));
        }
      },
    skip: (title: string): void => {
      collected.push({ title: titleOf(fromOutside(current()), title), run: undefined });
    },
  },
);

/** The groups around a test, the outermost first. */
function fromOutside(innermost: Group | undefined): Group[] {
  return innermost === undefined ? [] : [...fromOutside(innermost.outer), innermost];
}

function titleOf(around: readonly Group[], title: string): string {
  return [...around.slice(1).map((outer) => outer.title), title].join(" › ");
}

/** Hooks of outer groups run first before a test and last after it, these also when it has failed. */
async function runInside(around: readonly Group[], body: Body): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async (step: Body): Promise<void> => {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  };
  const before = around.flatMap((outer) => outer.before);
  await attempt(async () => {
    for (const step of [...before, body]) await step();
  });
  for (const hook of [...around].reverse().flatMap((outer) => outer.after)) await attempt(hook);
  if (failures.length > 0) throw failures[0];
}
