import { ProgressLine } from "../verify/progress-line";
import { readOptions, usage, UsageError } from "./options";
import type { SoakOptions } from "./options";
import { runSoak } from "./run-soak";
import type { SoakEnd } from "./run-soak";

/*
 * npm run soak -- --hours N [--folder DIR]
 * A mixed load at a fixed rate over PostgreSQL and worker processes that are killed, frozen and replaced; an outside ledger
 * tells whether anything was lost, ran twice or exceeded a limit, samples tell whether anything grows (docs/benchmarks).
 * Ends with 1 when a verdict is broken, with 3 when it was stopped before its time: the same command goes on.
 */
const plainEveryMs = 60_000;
const exitCodes = { good: 0, broken: 1, failed: 2, stopped: 3 } as const;

async function main(options: SoakOptions): Promise<number> {
  const end = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      end.abort();
    });
  const line = new ProgressLine((text) => process.stderr.write(text), process.stderr.isTTY);
  let toldMs = 0;
  const ended = await runSoak(options, {
    signal: end.signal,
    onProgress: (share, text) => {
      const isTerminal = process.stderr.isTTY && !options.isJson;
      if (!isTerminal && Date.now() - toldMs < plainEveryMs) return;
      toldMs = Date.now();
      if (options.isJson) console.log(JSON.stringify({ share, progress: text }));
      else line.show(share, isTerminal ? "soak" : text, text);
    },
  });
  line.clear();
  return tell(ended, options);
}

function tell(ended: SoakEnd, { isJson, report, hours }: SoakOptions): number {
  if (isJson) console.log(JSON.stringify(ended));
  if (ended.is === "stopped") {
    const ran = (ended.ranMs / 3_600_000).toFixed(2);
    if (!isJson)
      console.log(`stopped after ${ran} of ${String(hours)} h; the same command goes on`);
    return exitCodes.stopped;
  }
  if (!isJson) {
    for (const { name, isGood, text } of ended.verdicts)
      console.log(
        `${isGood === null ? "not judged" : isGood ? "good" : "BROKEN"}: ${name}: ${text}`,
      );
    console.log(`${report}/soak.md has the report`);
  }
  return ended.isGood ? exitCodes.good : exitCodes.broken;
}

async function start(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options !== undefined) return await main(options);
    console.log(usage);
    return exitCodes.good;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    return exitCodes.failed;
  }
}

start().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(exitCodes.failed);
  },
);
