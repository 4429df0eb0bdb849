import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectTitles } from "./collect-titles";
import { readBehaviours, root } from "./read-behaviours";
import { places, printTable, tabulate } from "./tabulate";
import type { JestResults } from "./tabulate";
import { readWords } from "../support/script-words";

const usage = `npm run behaviours -- [--json FILE] [--results FILE | --titles]

Shows for each behaviour of the source texts (docs/internals/source-behaviours.md) on which store a test has shown it: passed,
failed, skipped and why, or n/a and why. Runs every test file that carries numbers, or reads what \`jest --json
--outputFile FILE\` has written, or reads the titles only, as if every test passed. Ends with 1 when one failed, or when a
behaviour has no test, or none that a planted fault fails, on a store that must show it.`;

// The faults, too.
process.env["TASKGATE_TEST_WHOLE"] ??= "1";

const { values } = readWords(usage, {
  options: {
    json: { type: "string" },
    results: { type: "string" },
    titles: { type: "boolean", default: false },
  },
});

function main(): number {
  const table = tabulate(readResults(), readBehaviours());
  console.log(printTable(table));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(table, null, 2)}\n`);
  const isBroken =
    table.problems.length > 0 || table.behaviours.some((row) => row.status === "fail");
  return isBroken ? 1 : 0;
}

function readResults(): JestResults {
  if (values.titles) return collectTitles();
  const text = values.results === undefined ? runJest() : readFileSync(values.results, "utf8");
  return JSON.parse(text) as JestResults;
}

/** The progress is printed; a failing test is the table's business. */
function runJest(): string {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-source-texts-"));
  const file = join(folder, "results.json");
  try {
    const patterns = places.map(({ path }) => path.source.replace("^", ""));
    spawnSync(
      process.execPath,
      [
        join(root, "node_modules/jest/bin/jest.js"),
        ...["--config", join(root, "test/jest.config.cjs")],
        ...["--json", "--outputFile", file, "--silent"],
        ...patterns,
      ],
      { cwd: root, stdio: ["ignore", "ignore", "inherit"] },
    );
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = main();
