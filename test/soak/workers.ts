import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sleep } from "../../shared/platform/real-clock";
import type { WorkerNews, WriteEntry } from "./ledger";
import type { Scale } from "./plan";
import type { WorkerMemory, WorkerOrder } from "./worker-process";

/** A worker's process. */
export interface Worker {
  readonly name: string;
  readonly build: number;
  readonly child: ChildProcess;
  /** It is never killed, frozen or replaced: what a process gains in hours is seen on it. */
  readonly isElder: boolean;
  isFrozen: boolean;
}

export interface WorkersPlace {
  /** As the workers' login. */
  readonly url: string;
  readonly ledgerFolder: string;
  readonly pidFolder: string;
  readonly logFile: string;
  readonly scale: Scale;
  readonly write: WriteEntry;
  /** Names of the workers of this leg begin with it. */
  readonly leg: number;
}

const answerMs = 1_500;
/** In a worker's log, when its lease is lost: another worker may have its tasks from then on. */
const lateText = "the lease could not be renewed in time";
const graceMs = 15_000;

/** The workers of a leg, and what is done to them. */
export class Workers {
  readonly #place: WorkersPlace;
  readonly #live = new Map<string, Worker>();
  #started = 0;
  /** Workers that ended without being told to. */
  readonly crashes: string[] = [];

  constructor(place: WorkersPlace) {
    this.#place = place;
    mkdirSync(place.pidFolder, { recursive: true });
  }

  get all(): readonly Worker[] {
    return [...this.#live.values()];
  }

  /** Those that may be disturbed. */
  get awake(): readonly Worker[] {
    return this.all.filter(({ isFrozen, isElder }) => !isFrozen && !isElder);
  }

  start(build: number, { isElder = false } = {}): void {
    const { url, ledgerFolder, pidFolder, scale, leg, write } = this.#place;
    this.#started += 1;
    const name = `${String(leg)}.${String(this.#started)}`;
    const pidFile = join(pidFolder, name);
    const order: WorkerOrder = { name, build, ledger: ledgerFolder, pidFile, scale };
    const worker: Worker = {
      name,
      build,
      child: spawnWorker(order, url),
      isElder,
      isFrozen: false,
    };
    this.#live.set(name, worker);
    // Here, since a worker may be frozen before it does anything.
    writeFileSync(pidFile, String(worker.child.pid ?? 0));
    worker.child.on("error", () => undefined);
    for (const stream of [worker.child.stdout, worker.child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.#hear(worker, chunk.toString());
      });
    worker.child.on("exit", (code, signal) => {
      rmSync(pidFile, { force: true });
      // Not one that was killed here.
      if (!this.#live.delete(name)) return;
      write({ is: "worker", atMs: Date.now(), worker: name, what: "ended" });
      if (code !== 0) this.crashes.push(`${name} ended by itself, ${signal ?? String(code)}`);
    });
  }

  kill(worker: Worker): void {
    this.#note(worker, "killed");
    this.#live.delete(worker.name);
    worker.child.kill("SIGKILL");
  }

  freeze(worker: Worker): void {
    this.#note(worker, "frozen");
    worker.isFrozen = true;
    worker.child.kill("SIGSTOP");
  }

  /** Nothing for one that was killed meanwhile. */
  thaw(worker: Worker): void {
    if (!worker.isFrozen || !this.#live.has(worker.name)) return;
    worker.child.kill("SIGCONT");
    worker.isFrozen = false;
    this.#note(worker, "thawed");
  }

  /** Lets it end what it runs. */
  async stop(worker: Worker): Promise<void> {
    this.thaw(worker);
    const { child } = worker;
    if (child.exitCode !== null || !this.#live.has(worker.name)) return;
    const exited = new Promise<void>((resolve) =>
      child.once("exit", () => {
        resolve();
      }),
    );
    if (child.connected) child.send("stop", () => undefined);
    const grace = new AbortController();
    await Promise.race([exited, sleep(graceMs, grace.signal).catch(() => undefined)]);
    grace.abort();
    if (this.#live.has(worker.name)) this.kill(worker);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.all.map((worker) => this.stop(worker)));
  }

  killAll(): void {
    for (const worker of this.all) this.kill(worker);
  }

  /** null: it is frozen, or too busy. */
  async memoryOf(worker: Worker): Promise<WorkerMemory | null> {
    const { child } = worker;
    if (worker.isFrozen || !child.connected) return null;
    const end = new AbortController();
    const answer = new Promise<WorkerMemory>((resolve) => {
      child.once("message", (memory) => {
        resolve(memory as WorkerMemory);
      });
    });
    child.send("memory", () => undefined);
    const late = sleep(answerMs, end.signal).then(
      () => null,
      () => null,
    );
    const memory = await Promise.race([answer, late]);
    end.abort();
    return memory;
  }

  /** Its log goes into a file. */
  #hear(worker: Worker, text: string): void {
    appendFileSync(this.#place.logFile, text);
    if (text.includes(lateText)) this.#note(worker, "late");
  }

  #note({ name }: Worker, what: WorkerNews): void {
    this.#place.write({ is: "worker", atMs: Date.now(), worker: name, what });
  }
}

function spawnWorker(order: WorkerOrder, url: string): ChildProcess {
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "worker-process.ts");
  const { PATH, HOME, TMPDIR } = process.env;
  return spawn(process.execPath, ["--expose-gc", "-r", register, program, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      ...{ PATH, HOME, TMPDIR },
      TASKGATE_DATABASE_URL: url,
      TASKGATE_BUILD: String(order.build),
      TASKGATE_WORKER_NAME: `soak ${order.name}`,
      TASKGATE_CONNECTIONS_MAX: "3",
      TASKGATE_LOG_LEVEL: "warn",
    },
  });
}

/** Ends workers of a leg that was killed: a frozen one can't notice that its parent is gone. Linux only; nothing elsewhere. */
export function endLeftWorkers(pidFolder: string): number {
  mkdirSync(pidFolder, { recursive: true });
  let ended = 0;
  for (const name of readdirSync(pidFolder)) {
    const path = join(pidFolder, name);
    const pid = Number(readFileSync(path, "utf8"));
    rmSync(path, { force: true });
    if (!isWorkerOf(pid, path)) continue;
    process.kill(pid, "SIGKILL");
    ended += 1;
  }
  return ended;
}

/** Its command line names the file. */
function isWorkerOf(pid: number, pidFile: string): boolean {
  try {
    return pid > 0 && readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").includes(pidFile);
  } catch {
    return false;
  }
}
