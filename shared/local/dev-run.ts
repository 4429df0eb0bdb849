/**
 * The local run from its options to its exit code: the composition root of `taskgate dev`. Its services are started in
 * local-run.ts; live-view.ts and plain-view.ts draw it.
 */
import { errorLine } from "../core/error-line";
import { messageOf } from "../core/foreign-value";
import { realClock } from "../platform/real-clock";
import { startedEvent } from "./dev-events";
import type { DevEvent } from "./dev-events";
import { followRun } from "./follow-run";
import { loadSample } from "./load-sample";
import { readLocalApp } from "./local-app";
import { startLocalRun } from "./local-run";
import type { LocalRun } from "./local-run";
import type { StartOptions } from "./start-options";
import { Teardown } from "./teardown";
import { watchNpm } from "./watch-npm";

/** What shells expect of SIGINT, SIGTERM and SIGHUP. */
export const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** How a run ended: 0, 1 when it failed or wasn't as expected, or what a signal stands for. */
export type DevExitCode = 0 | 1 | (typeof signalCodes)[keyof typeof signalCodes];

/** Runs the app until its user ends it, or with `isOnce` until the sample is done. Never rejects. */
export async function runDev(options: StartOptions): Promise<DevExitCode> {
  // A reader that goes away (a closed pipe) must not leave the services behind.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
  const teardown = new Teardown();
  const interruption = new Interruption();
  const { say, rewrite, tell, fail } = options.isJson ? jsonOutput : textOutput;
  const startedAtMs = realClock.monotonicMs();
  let code: DevExitCode;
  try {
    const { signal } = interruption;
    const app = readLocalApp(options.appRoot);
    const sample = options.isWithoutSample ? null : loadSample(app);
    if (sample === null && options.isOnce)
      throw new Error("--once ends when the sample is done: this app has no sample.");
    const run = await startLocalRun({ options, app, sample, teardown, signal, say, rewrite });
    if (tell === null) for (const line of banner(run, options)) say(line);
    else tell(startedEvent(run, options.hosts, describeStore(run)));
    const interrupt = interruption.stop;
    const end = await followRun({ run, options, signal, startedAtMs, say, tell, interrupt });
    code = end === "interrupted" ? interruption.exitCode(options.isOnce) : end === "good" ? 0 : 1;
  } catch (error) {
    code = interruption.signal.aborted ? interruption.exitCode(true) : 1;
    if (!interruption.signal.aborted) fail(error);
  }
  if (interruption.signal.aborted) say("Ending: what runs is given back ..");
  for (const problem of await teardown.run()) {
    if (tell === null) process.stderr.write(`${problem}\n`);
    else say(problem);
  }
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
    // At a terminal Ctrl-C reaches both.
    watchNpm(() => {
      if (!this.signal.aborted) this.stop("SIGTERM");
    });
  }

  /** Ctrl-C is how a run without an end of its own is ended: that is no failure. */
  exitCode(isFailure: boolean): DevExitCode {
    return isFailure || this.#by !== "SIGINT" ? signalCodes[this.#by] : 0;
  }
}

const beginnings = {
  afresh: "begins afresh (--keep goes on with the data of the last run)",
  resumes: "resumes the run that was interrupted",
  keeps: "goes on with the data of the last run",
  shared: "uses the database as it is; nothing in it is removed",
} as const;

function banner(run: LocalRun, { hosts }: StartOptions): string[] {
  const page = run.pageUrl() ?? "none: no function of this app serves it";
  return [
    "",
    `Taskgate runs on this machine: ${beginnings[run.beginning]}`,
    ...(run.sample === null ? [] : [`  sample       ${run.sample.title}`]),
    `  store        ${describeStore(run)}`,
    `  queues       ${run.queuesTitle}`,
    ...(hosts === 0 ? ["  workers      none (--hosts 0)"] : [`  dashboard    ${page}`]),
    ...(run.landing === null ? [] : ["  files        drop .json or .csv files into landing/"]),
    "  log          .taskgate/local.log",
    "",
  ];
}

/** Without the password. */
function describeStore({ databaseUrl }: LocalRun): string {
  if (databaseUrl === null) return "PostgreSQL, embedded, in .taskgate/postgres";
  const { protocol, host, pathname } = new URL(databaseUrl);
  const kind = protocol === "mssql:" ? "SQL Server" : "PostgreSQL";
  return `${kind} at ${host}${pathname}`;
}

/** How the run is told. */
interface DevOutput {
  readonly say: (line: string) => void;
  /** Over the present line of the terminal; null where there is none. */
  readonly rewrite: ((text: string) => void) | null;
  /** Null: lines for people. */
  readonly tell: ((event: DevEvent) => void) | null;
  readonly fail: (error: unknown) => void;
}

const textOutput: DevOutput = {
  say: (line) => {
    process.stdout.write(`${line}\n`);
  },
  rewrite:
    process.stdout.isTTY && process.env["TERM"] !== "dumb"
      ? (text: string): void => {
          process.stdout.write(`\r\u001b[2K${text}`);
        }
      : null,
  tell: null,
  fail: (error) => {
    process.stderr.write(`${messageOf(error)}\n`);
  },
};

/** Standard error holds the error and nothing else, as of each command. */
const jsonOutput: DevOutput = {
  say: (text) => {
    if (text !== "") tellEvent({ event: "notice", text });
  },
  rewrite: null,
  tell: tellEvent,
  fail: (error) => {
    process.stderr.write(`${errorLine(error)}\n`);
  },
};

function tellEvent(event: DevEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
