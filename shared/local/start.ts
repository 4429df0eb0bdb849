/**
 * `npm start`: the whole product on one machine, with nothing but Node. The composition root of the local run: options,
 * signals and exit codes are here; what runs is in local-run.ts, what is seen in live-view.ts and plain-view.ts.
 */
import { resolve } from "node:path";
import { realClock } from "../platform/real-clock";
import { startLocalRun } from "./local-run";
import type { LocalRun } from "./local-run";
import { followRun } from "./follow-run";
import { appRoot, loadSample } from "./load-sample";
import { parseStartArguments, startHelp } from "./start-options";
import type { StartOptions } from "./start-options";
import { Teardown } from "./teardown";

/** Exit codes; 130 and 143 are what shells expect of SIGINT and SIGTERM. */
const failed = 1;
const wrongOptions = 2;
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

async function main(): Promise<number> {
  const parsed = parseStartArguments(process.argv.slice(2), process.cwd());
  if (parsed.kind === "help") {
    process.stdout.write(startHelp);
    return 0;
  }
  if (parsed.kind === "wrong") {
    process.stderr.write(`${parsed.problem}\nnpm start -- --help shows all options.\n`);
    return wrongOptions;
  }
  return runUntilEnd({ ...parsed.options, home: resolve(parsed.options.home) });
}

async function runUntilEnd(options: StartOptions): Promise<number> {
  const teardown = new Teardown();
  const interruption = new Interruption();
  const startedAtMs = realClock.monotonicMs();
  let code: number;
  try {
    const { signal } = interruption;
    const sample = options.isWithoutSample ? null : loadSample();
    if (sample === null && options.isOnce)
      throw new Error("--once ends when the sample is done: this app has no sample.");
    const run = await startLocalRun({ options, appRoot, sample, teardown, signal, say });
    for (const line of banner(run, options)) say(line);
    const end = await followRun({
      run,
      options,
      signal,
      startedAtMs,
      say,
      interrupt: interruption.stop,
    });
    code =
      end === "interrupted" ? interruption.exitCode(options.isOnce) : end === "good" ? 0 : failed;
  } catch (error) {
    code = interruption.signal.aborted ? interruption.exitCode(true) : failed;
    if (!interruption.signal.aborted) process.stderr.write(`${describe(error)}\n`);
  }
  if (interruption.signal.aborted) say("Ending: what runs is given back ..");
  for (const problem of await teardown.run()) process.stderr.write(`${problem}\n`);
  return code;
}

/** The first Ctrl-C asks for an orderly end, the second ends at once. */
class Interruption {
  readonly #controller = new AbortController();
  #by: keyof typeof signalCodes = "SIGINT";
  readonly signal = this.#controller.signal;
  readonly stop = (by: keyof typeof signalCodes = "SIGINT"): void => {
    if (this.#controller.signal.aborted) process.exit(signalCodes[by]);
    this.#by = by;
    this.#controller.abort();
  };

  constructor() {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(name, () => {
        this.stop(name);
      });
    }
  }

  /** Ctrl-C is how a run without an end of its own is ended: that is no failure. */
  exitCode(isFailure: boolean): number {
    return isFailure || this.#by !== "SIGINT" ? signalCodes[this.#by] : 0;
  }
}

const beginnings = {
  afresh: "begins afresh (npm start -- --keep goes on with the data of the last run)",
  resumes: "resumes the run that was interrupted",
  keeps: "goes on with the data of the last run",
  shared: "uses the database as it is; nothing in it is removed",
} as const;

function banner(run: LocalRun, { databaseUrl }: StartOptions): string[] {
  const embedded = "PostgreSQL, embedded, in .taskgate/postgres";
  const store = databaseUrl === null ? embedded : describeDatabase(databaseUrl);
  return [
    "",
    `Taskgate runs on this machine: ${beginnings[run.beginning]}`,
    ...(run.sample === null ? [] : [`  sample       ${run.sample.title}`]),
    `  store        ${store}`,
    "  queues       Azurite, in memory",
    `  status page  ${run.url}/api/dashboard`,
    ...(run.landing === null ? [] : ["  files        drop .json or .csv files into landing/"]),
    "  log          .taskgate/local.log",
    "",
  ];
}

/** Without the password. */
function describeDatabase(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  const kind = protocol === "mssql:" ? "SQL Server" : "PostgreSQL";
  return `${kind} at ${host}${pathname}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// A reader that goes away (a closed pipe) must not leave the services behind.
process.stdout.on("error", () => undefined);
process.stderr.on("error", () => undefined);
void main().then((code) => {
  process.exit(code);
});
