import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readBehaviours, root } from "./read-seeds";
import { places, printTable, tabulate } from "./tabulate";
import type { JestResults } from "./tabulate";

/*
 * npm run seeds -- [--json FILE] [--results FILE]
 * Shows for each behaviour of the source texts (docs/internals/seeds.md) on which store a test has shown it: passed,
 * failed, skipped and why, or missing. Runs every test file that carries numbers, or reads what `jest --json
 * --outputFile FILE` has written. Ends with 1 when one failed.
 */
const { values } = parseArgs({
  options: { json: { type: "string" }, results: { type: "string" } },
});

function main(): number {
  const text = values.results === undefined ? runJest() : readFileSync(values.results, "utf8");
  const table = tabulate(JSON.parse(text) as JestResults, readBehaviours());
  console.log(printTable(table));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(table, null, 2)}\n`);
  const isBroken =
    table.problems.length > 0 || table.behaviours.some((row) => row.status === "fail");
  return isBroken ? 1 : 0;
}

/** What is tested is said while it runs; a failing test is the table's business. */
function runJest(): string {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-seeds-"));
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
