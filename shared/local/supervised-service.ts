/**
 * Starts a local service (a child process) that cannot outlive this process.
 *
 * The child belongs to a small supervisor process, see `supervisor.ts`. One supervisor serves all
 * services of this process; it is started with the first and ends with the last.
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import type * as Swc from "@swc/core";
import { textAt } from "../core/foreign-value";

/** A user to run as; only root may ask for one. */
export interface ServiceUser {
  readonly uid: number;
  readonly gid: number;
}

/** Asks a service to end: a signal, or a program that does so where signals only kill (Windows). */
export type StopStep =
  | NodeJS.Signals
  | { readonly command: string; readonly args: readonly string[] };

/** What to run. */
export interface ServiceOptions {
  /** Program to run: an absolute path, or a name found on the PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Default: the folder of this process. */
  readonly cwd?: string;
  /** The whole environment of the service. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly user?: ServiceUser;
  /** Taken one after the other until the service ends; the last should leave it no choice. */
  readonly stopSteps: readonly StopStep[];
  /** Pause between two of these steps after `stop()`, ms. Default 5,000. */
  readonly stopStepMs?: number;
  /** Files and folders removed when the service has ended, also if this process died before. */
  readonly removeAfter?: readonly string[];
}

/** How a service ended. */
export interface ServiceExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What of `removeAfter` could not be removed, and why. */
  readonly problems: readonly string[];
}

/** A running service. */
export interface SupervisedService {
  /** The process that is killed if the supervisor is lost. A program that launches the service and ends gives way to it. */
  pid: number;
  /** Settles when the service has ended for any reason; never rejects. */
  readonly exited: Promise<ServiceExit>;
  /** The last 16 KiB that the service wrote, stdout and stderr together. */
  output(): string;
  /**
   * Waits until the output matches. Rejects with the output if the service ends before, or after
   * `timeoutMs`; it does not stop the service.
   */
  waitForOutput(pattern: RegExp, timeoutMs: number): Promise<void>;
  /** Stops the service and waits for its end. A second call waits for the same end. */
  stop(): Promise<ServiceExit>;
}

/** A service could not be started at all; `code` is the system's, for example ENOENT. */
export class ServiceStartError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.name = "ServiceStartError";
    this.code = code;
  }
}

/** Asks the supervisor to start a service. */
export interface StartRequest extends Omit<ServiceOptions, "stopStepMs"> {
  readonly kind: "start";
  readonly id: number;
  readonly env: NodeJS.ProcessEnv;
  readonly removeAfter: readonly string[];
}

/** What this process says to its supervisor. */
export type SupervisorRequest =
  | StartRequest
  | { readonly kind: "stop"; readonly id: number; readonly stepMs: number };

/** What the supervisor answers. */
export type SupervisorAnswer =
  | { readonly kind: "started"; readonly id: number; readonly pid: number }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly code: string | undefined;
      readonly message: string;
    }
  | { readonly kind: "output"; readonly id: number; readonly text: string }
  | ({ readonly kind: "exited"; readonly id: number } & ServiceExit);

const OUTPUT_CHARS_MAX = 16_384;
const STOP_STEP_MS = 5_000;
/** Generous: the supervisor needs 50 ms, a machine under load ten times that. */
const START_TIMEOUT_MS = 20_000;

/** One service as this process sees it. */
class ServiceHandle implements SupervisedService {
  pid = 0;
  readonly exited: Promise<ServiceExit>;
  readonly #supervisor: ChildProcess;
  readonly #id: number;
  readonly #stopStepMs: number;
  readonly #watchers = new Set<() => void>();
  #output = "";
  #exit: ServiceExit | undefined;
  #isStopAsked = false;
  #settleExit: (exit: ServiceExit) => void = () => undefined;

  constructor(supervisor: ChildProcess, id: number, stopStepMs: number) {
    this.#supervisor = supervisor;
    this.#id = id;
    this.#stopStepMs = stopStepMs;
    this.exited = new Promise((resolve) => {
      this.#settleExit = resolve;
    });
  }

  output(): string {
    return this.#output;
  }

  append(text: string): void {
    this.#output = (this.#output + text).slice(-OUTPUT_CHARS_MAX);
    for (const watcher of this.#watchers) watcher();
  }

  end(exit: ServiceExit): void {
    if (this.#exit !== undefined) return;
    this.#exit = exit;
    for (const watcher of this.#watchers) watcher();
    this.#settleExit(exit);
  }

  async waitForOutput(pattern: RegExp, timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        if (error === undefined) resolve();
        else reject(error);
      };
      const look = (): void => {
        if (pattern.test(this.#output)) settle();
        else if (this.#exit !== undefined) settle(new Error(this.#output.trim()));
      };
      const timer = setTimeout(() => {
        settle(new Error(`Not ready after ${timeoutMs} ms. ${this.#output.trim()}`));
      }, timeoutMs);
      this.#watchers.add(look);
      look();
    });
  }

  async stop(): Promise<ServiceExit> {
    if (!this.#isStopAsked && this.#exit === undefined) {
      this.#isStopAsked = true;
      tell(this.#supervisor, { kind: "stop", id: this.#id, stepMs: this.#stopStepMs });
    }
    return await this.exited;
  }
}

interface Supervisor {
  readonly process: ChildProcess;
  readonly handles: Map<number, ServiceHandle>;
  readonly starting: Map<number, (answer: SupervisorAnswer | undefined) => void>;
}

let current: Supervisor | undefined;
let lastId = 0;

function tell(supervisor: ChildProcess, request: SupervisorRequest): void {
  // A supervisor that is gone is reported by its "exit" event, so the error here adds nothing.
  if (supervisor.connected) supervisor.send(request, undefined, undefined, () => undefined);
}

/**
 * Starts the supervisor's program in a session of its own. From compiled code that is the file
 * beside this one. From the sources (tests), where no compiled file exists, the same file is
 * compiled in memory: it imports nothing but node's own modules.
 */
function forkSupervisor(): ChildProcess {
  const extension = extname(__filename);
  const program = join(__dirname, `supervisor${extension}`);
  // What the user set for node (an inspector, a loader) is not meant for the supervisor.
  const env = { ...process.env, NODE_OPTIONS: undefined };
  const options = { detached: true, windowsHide: true, env };
  if (extension !== ".ts") {
    return fork(program, {
      ...options,
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }
  // Loaded here and not at the top: only tests get this far.
  const { transformSync } = createRequire(__filename)("@swc/core") as typeof Swc;
  const { code } = transformSync(readFileSync(program, "utf8"), {
    jsc: { target: "es2023", parser: { syntax: "typescript" } },
    module: { type: "commonjs" },
  });
  const stdio = ["ignore", "ignore", "inherit", "ipc"] as const;
  return spawn(process.execPath, ["-e", code], { ...options, stdio: [...stdio] });
}

function openSupervisor(): Supervisor {
  if (current !== undefined) return current;
  const supervisor: Supervisor = {
    process: forkSupervisor(),
    handles: new Map(),
    starting: new Map(),
  };
  current = supervisor;
  supervisor.process.on("message", (answer: SupervisorAnswer) => {
    receive(supervisor, answer);
  });
  const lost = (): void => {
    abandon(supervisor);
  };
  supervisor.process.once("exit", lost);
  supervisor.process.once("error", lost);
  return supervisor;
}

function receive(supervisor: Supervisor, answer: SupervisorAnswer): void {
  const { id } = answer;
  const handle = supervisor.handles.get(id);
  switch (answer.kind) {
    case "started":
    case "failed":
      supervisor.starting.get(id)?.(answer);
      return;
    case "output":
      handle?.append(answer.text);
      return;
    case "exited":
      supervisor.handles.delete(id);
      handle?.end({ code: answer.code, signal: answer.signal, problems: answer.problems });
      closeWhenIdle(supervisor);
  }
}

/** The supervisor itself was killed: its services have lost their keeper, so they end now. */
function abandon(supervisor: Supervisor): void {
  if (current === supervisor) current = undefined;
  for (const settle of supervisor.starting.values()) settle(undefined);
  for (const handle of supervisor.handles.values()) {
    if (handle.pid !== 0) endOrphan(handle.pid);
    handle.end({ code: null, signal: null, problems: ["The supervisor process ended."] });
  }
  supervisor.handles.clear();
}

function endOrphan(pid: number): void {
  try {
    // SIGQUIT is PostgreSQL's immediate shutdown: unlike SIGKILL it takes its children along.
    process.kill(pid, "SIGQUIT");
  } catch (error) {
    if (textAt(error, "code") !== "ESRCH") throw error;
  }
}

function closeWhenIdle(supervisor: Supervisor): void {
  if (supervisor.handles.size > 0 || supervisor.starting.size > 0) return;
  if (current === supervisor) current = undefined;
  if (supervisor.process.connected) supervisor.process.disconnect();
}

/**
 * Starts a service and returns when its process exists (not when it is ready: see
 * `waitForOutput`). It ends within 2 s after this process, however that ends.
 *
 * Errors: `ServiceStartError` if the program cannot be started or the supervisor does not answer
 * within 20 s.
 */
export async function startService(options: ServiceOptions): Promise<SupervisedService> {
  const supervisor = openSupervisor();
  lastId += 1;
  const id = lastId;
  const { stopStepMs = STOP_STEP_MS, env = process.env, removeAfter = [], ...service } = options;
  const handle = new ServiceHandle(supervisor.process, id, stopStepMs);
  supervisor.handles.set(id, handle);
  const answer = await new Promise<SupervisorAnswer | undefined>((resolve) => {
    const timer = setTimeout(() => {
      resolve(undefined);
    }, START_TIMEOUT_MS);
    supervisor.starting.set(id, (given) => {
      clearTimeout(timer);
      resolve(given);
    });
    tell(supervisor.process, { kind: "start", id, ...service, env: { ...env }, removeAfter });
  });
  supervisor.starting.delete(id);
  if (answer?.kind === "started") {
    handle.pid = answer.pid;
    return handle;
  }
  supervisor.handles.delete(id);
  closeWhenIdle(supervisor);
  if (answer?.kind === "failed") throw new ServiceStartError(answer.message, answer.code);
  throw new ServiceStartError(
    `The supervisor process did not start ${options.command}.`,
    undefined,
  );
}
