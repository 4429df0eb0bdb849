import { writeFileSync } from "node:fs";
import { readOptions, usage, UsageError } from "./options";
import { ProgressLine } from "./progress-line";
import { printResult, verdictOf } from "./result";
import { verify } from "./verify";
import { WorkplaceError } from "./workplace";

/*
 * npm run verify -- --mssql URL [--json FILE] [--minutes N]
 * The acceptance pack for a server of the user's own. Exit codes: 0 passed, 1 failed, 2 can't be run here, 3 incomplete.
 */

const exitCodes = { passed: 0, failed: 1, incomplete: 3 } as const;
const cantRun = 2;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env["TASKGATE_TEST_MSSQL_URL"]);
  if (options === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  const line = new ProgressLine((text) => process.stderr.write(text), process.stderr.isTTY);
  const result = await verify(options, {
    signal: stopOnSignal(),
    show: (share, step, what) => {
      line.show(share, step, what);
    },
  });
  line.clear();
  process.stdout.write(`${printResult(result)}\n`);
  if (options.jsonFile !== undefined) {
    const verdict = verdictOf(result);
    writeFileSync(options.jsonFile, `${JSON.stringify({ verdict, ...result }, null, 2)}\n`);
  }
  return exitCodes[verdictOf(result)];
}

/** The first Ctrl-C stops and cleans up; the second ends the process where it is. */
function stopOnSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(cantRun);
      process.stderr.write("\nStopping, and removing what was made. Once more to leave it.\n");
      controller.abort();
    });
  }
  return controller.signal;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const isExpected = error instanceof UsageError || error instanceof WorkplaceError;
    process.stderr.write(
      `${isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    if (error instanceof UsageError) process.stderr.write(`\n${usage}`);
    process.exit(cantRun);
  },
);
