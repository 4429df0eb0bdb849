/** Starts local Functions hosts, each in a process of its own, as Azure's instances are. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { AppSettings } from "./functions-host/app-settings";
import type { LogLevel } from "./functions-host/core-api";

/** What the host's process is told. */
export type HostOrder =
  | ({ readonly kind: "start" } & HostChildSettings)
  | { readonly kind: "stop" };

/** What it says. */
export type HostReport =
  | { readonly kind: "started"; readonly url: string; readonly routes: string[] }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "log"; readonly level: LogLevel; readonly text: string }
  | TimerReport;

/** A run of a timer has ended. */
export interface TimerReport {
  readonly kind: "timer";
  readonly name: string;
  /** The message of its error; null: it went well. */
  readonly failure: string | null;
}

/** How one host is set up. */
export interface HostChildSettings {
  /** The folder with host.json and package.json. */
  readonly appRoot: string;
  readonly port: number;
  /** The whole environment of the process. */
  readonly env: AppSettings;
  readonly runsTimers: boolean;
}

type Started = Extract<HostReport, { readonly kind: "started" }>;

/** A running host. */
export interface HostChild {
  readonly url: string;
  /** Paths of the HTTP functions, without a leading slash: `api/items/{id}`. */
  readonly routes: readonly string[];
  readonly pid: number;
  /** Settles when the process has ended, with its exit code or signal. */
  readonly exited: Promise<string>;
  /** Ends it: running tasks are told to stop and given back. After 8 s it is killed. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

/** The app can't be run as it is: the message says why. */
export class HostFailure extends Error {}

const startTimeoutMs = 30_000;
const stopTimeoutMs = 8_000;

/**
 * Starts a host and returns when it listens. `onLine` gets every line that the host and the functions write.
 * Throws an Error that says what the host said; HostFailure where the app is the reason.
 */
export async function startHostChild(
  settings: HostChildSettings,
  onLine: (line: string) => void,
  onTimer?: (report: TimerReport) => void,
): Promise<HostChild> {
  const child = fork(join(__dirname, "host-process.js"), {
    // As on Azure, where a worker's process is in the folder of its app.
    cwd: settings.appRoot,
    env: { ...settings.env },
    execArgv: ["--enable-source-maps"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  for (const stream of [child.stdout, child.stderr]) if (stream !== null) readLines(stream, onLine);
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(signal ?? `exit code ${String(code)}`);
    });
  });
  child.on("message", (report: HostReport) => {
    if (report.kind === "log") onLine(`${report.level} ${report.text}`);
    if (report.kind === "timer") onTimer?.(report);
  });
  const order: HostOrder = { kind: "start", ...settings };
  const { url, routes } = await Promise.race([whenStarted(child, order), endedEarly(exited)]).catch(
    (error: unknown) => {
      child.kill("SIGKILL");
      throw error;
    },
  );
  return {
    url,
    routes,
    pid: child.pid ?? 0,
    exited,
    stop: () => stop(child, exited),
    kill: () => child.kill("SIGKILL"),
  };
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream }).on("line", onLine);
}

function whenStarted(child: ChildProcess, order: HostOrder): Promise<Started> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`The Functions host did not start within ${String(startTimeoutMs)} ms.`));
    }, startTimeoutMs);
    child.on("message", (report: HostReport) => {
      if (report.kind === "log" || report.kind === "timer") return;
      clearTimeout(timer);
      if (report.kind === "started") resolve(report);
      else reject(new HostFailure(report.message));
    });
    child.once("exit", () => {
      clearTimeout(timer);
    });
    child.send(order);
  });
}

async function endedEarly(exited: Promise<string>): Promise<never> {
  throw new Error(`The Functions host ended while it started: ${await exited}.`);
}

async function stop(child: ChildProcess, exited: Promise<string>): Promise<void> {
  const order: HostOrder = { kind: "stop" };
  if (child.connected) child.send(order, () => undefined);
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await exited;
  clearTimeout(timer);
}
