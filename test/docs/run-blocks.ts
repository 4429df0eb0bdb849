import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import type { Profiler } from "node:inspector";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { readBlock, root } from "./markdown";

/*
 * Runs blocks of code as pasted, and notes which have run. A block of TypeScript has run when each function in it was called:
 * the engine's own coverage tells that, so a block that is only loaded is found.
 */

/** A block's page and marker. */
export type BlockPlace = readonly [page: string, marker: string];

/** An app whose files are the blocks; its packages are those of the repository. */
export const pastedApp = mkdtempSync(join(tmpdir(), "taskgate-pasted-"));
symlinkSync(join(root, "node_modules"), join(pastedApp, "node_modules"), "dir");

const nameOf = ([page, marker]: BlockPlace): string => `${page} ${marker}`;
const ran = new Set<string>();
const files = new Map<string, string>();
const session = new Session();

afterAll(() => {
  session.disconnect();
  rmSync(pastedApp, { recursive: true, force: true });
});

/** Notes that a test has run a block in another way, and seen what it does. */
export function noteRun(place: BlockPlace): void {
  ran.add(nameOf(place));
}

/** Gives a block's SQL to `run`. */
export async function pasteSql<Result>(
  [page, marker]: BlockPlace,
  run: (sql: string) => Promise<Result>,
): Promise<Result> {
  const result = await run(readBlock(page, marker).text);
  noteRun([page, marker]);
  return result;
}

/** Writes a block where its first line says, or under its marker; answers its path. `adapt` puts the test's own addresses in. */
export function writeBlock(
  [page, marker]: BlockPlace,
  adapt: (text: string) => string = (text) => text,
): string {
  // Before the module is loaded: code that is compiled already has no counters.
  if (files.size === 0) {
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }
  const text = adapt(readBlock(page, marker).text);
  const place = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? `functions/${marker}.ts`;
  const path = join(pastedApp, place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  files.set(nameOf([page, marker]), path);
  return path;
}

/** The module of a block. */
export async function loadBlock<Module>(
  place: BlockPlace,
  adapt?: (text: string) => string,
): Promise<Module> {
  return (await import(writeBlock(place, adapt))) as Module;
}

/** Functions of the blocks that were never called, as `page marker: function`. */
async function idleFunctions(): Promise<string[]> {
  if (files.size === 0) return [];
  const result = await new Promise<Profiler.ScriptCoverage[]>((resolve, reject) => {
    session.post("Profiler.takePreciseCoverage", (error, answer) => {
      if (error === null) resolve(answer.result);
      else reject(error);
    });
  });
  return [...files].flatMap(([name, path]) => {
    const script = result.find(({ url }) => url.endsWith(path));
    if (script === undefined) return ran.has(name) ? [] : [`${name}: not loaded`];
    return (
      script.functions
        // The compiler's own helpers, and its getters for exports.
        .filter(({ functionName }) => !/^(?:_|get )/.test(functionName))
        .filter(({ ranges }) => ranges[0]?.count === 0)
        .map(({ functionName }) => `${name}: ${functionName || "a function"} was never called`)
    );
  });
}

/** The file's last test: it has run these blocks. `every-block.test.ts` reads the list, too. */
export function testBlocksRan(places: readonly BlockPlace[]): void {
  test(`${String(places.length)} blocks of the pages have run as pasted`, async () => {
    const known = (place: BlockPlace): boolean =>
      ran.has(nameOf(place)) || files.has(nameOf(place));
    expect(places.filter((place) => !known(place)).map(nameOf)).toEqual([]);
    expect(await idleFunctions()).toEqual([]);
  });
}
