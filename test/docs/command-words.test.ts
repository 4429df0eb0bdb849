import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { commands } from "../../shared/cli/commands";
import { readStartOptions } from "../../shared/cli/dev";
import { parseCommandLine } from "../../shared/cli/parse-arguments";
import { parseOptions as readBench } from "../bench/options";
import { parseOptions as readPeers } from "../bench/peers-launcher/options";
import { readOptions as readSoak } from "../soak/options";
import { judgedBlocks } from "./judged-blocks";
import { readBlocks, readPage, root } from "./markdown";
import { callsOf, standIn } from "./stand-in";

/*
 * Goal: blocks that last too long for a test, or are the gate itself, call scripts that exist with options that their programs read.
 * Method: a stand-in for npm notes the words, and each program's own reader reads them.
 *
 * CONTRIBUTING.md, README.md, docs/benchmarks/README.md, docs/quickstart-pipeline.md, infra/README.md
 */
const { scripts } = JSON.parse(readPage("package.json")) as { scripts: Record<string, string> };

function readStart(words: readonly string[]): void {
  const parsed = parseCommandLine(["dev", ...words], commands);
  if (parsed.kind === "run") readStartOptions({ ...parsed, folder: root });
}

function readBicep(words: readonly string[]): void {
  const usage = readFileSync(join(root, ".ci/bicep.cjs"), "utf8").split("\n");
  const known = usage.flatMap((line) => /^\/\/ {3}node \S+ (--\w+) /.exec(line)?.[1] ?? []);
  for (const word of words) expect(known).toContain(word);
}

function refuseWords(words: readonly string[]): void {
  expect(words).toEqual([]);
}

/** By the name of the script. */
const readers: Readonly<Record<string, (words: string[]) => unknown>> = {
  bench: readBench,
  "bench:peers": (words) => readPeers(words, "docs"),
  bicep: readBicep,
  check: refuseWords,
  soak: readSoak,
  start: readStart,
  test: refuseWords,
};

/** Reads one call of npm. Throws where the script, or a word of it, isn't known. */
function readCall([npm, ...words]: readonly string[]): void {
  expect(npm).toBe("npm");
  if (words[0] === "ci") {
    expect([words, existsSync(join(root, "package-lock.json"))]).toEqual([
      ["ci", "--ignore-scripts"],
      true,
    ]);
    return;
  }
  const [name = "", ...given] = words[0] === "run" ? words.slice(1) : words;
  const read = readers[name];
  if (read === undefined || scripts[name] === undefined) throw new Error(`no script ${name}`);
  const [dashes = "--", ...behind] = given;
  expect(dashes).toBe("--");
  read(behind);
}

const places = judgedBlocks
  .filter(({ by }) => by === "test/docs/command-words.test.ts")
  .flatMap(({ page, marker: wanted }) =>
    readBlocks(page).flatMap(({ marker }) =>
      marker !== null && wanted.test(marker) ? [[page, marker] as const] : [],
    ),
  );

test.each(places)("the commands of %s under %s are read by their programs", async (...place) => {
  const calls = await callsOf(place, { programs: { npm: standIn() } });
  expect(calls.length).toBeGreaterThan(0);
  for (const call of calls)
    expect(() => {
      readCall(call);
    }).not.toThrow();
});

test.each([
  ["npm run benches", "no script benches"],
  ["npm run bench -- --fast", "Unknown option '--fast'"],
  ["npm run soak -- --days 1", "Unknown option '--days'"],
  ["npm run bicep -- --read", "--read"],
  ["npm start -- --sample", "--sample"],
])("a call with a mistake is found: %s", (line, message) => {
  expect(() => {
    readCall(line.split(" "));
  }).toThrow(message);
});
