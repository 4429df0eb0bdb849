import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Scale } from "./plan";
import type { Sample } from "./sample";

/** A time in which a run went on without a stop. */
export interface Leg {
  readonly startedAtMs: number;
  /** As last noted: a leg that was killed lived somewhat longer. */
  lastSeenMs: number;
  /** False: it was killed, or still goes on. */
  isStopped: boolean;
}

/** What a run must know of its earlier legs. */
export interface RunState {
  readonly scale: Scale;
  readonly legs: Leg[];
  /** Of the newest workers. */
  build: number;
  /** All is done and judged: nothing more is run. */
  isDrained: boolean;
  happened: Record<string, number>;
  /** Workers that ended by themselves. */
  crashes: string[];
  /** What the database's own check found at the last drain, and what it counted. */
  database: { findings: string[]; deadlocks: number } | null;
}

/** The folder of a run: its database's data, its ledger, its samples and its state. One process at a time. */
export class RunFolder {
  readonly path: string;
  readonly state: RunState;

  private constructor(path: string, state: RunState) {
    this.path = path;
    this.state = state;
  }

  /** Opens the folder, or makes it with that scale. Throws an Error while another process works in it. */
  static open(path: string, scale: Scale): RunFolder {
    mkdirSync(path, { recursive: true });
    // The server runs as another user where this process is root's.
    chmodSync(path, 0o755);
    takeLock(lockOf(path));
    const file = join(path, "state.json");
    const state: RunState = existsSync(file)
      ? (JSON.parse(readFileSync(file, "utf8")) as RunState)
      : {
          ...{ scale, legs: [], build: 0, isDrained: false },
          ...{ happened: {}, crashes: [], database: null },
        };
    return new RunFolder(path, state);
  }

  /** Lets other processes work in it. */
  close(): void {
    rmSync(lockOf(this.path), { force: true });
  }

  get data(): string {
    return join(this.path, "data");
  }

  get ledger(): string {
    return join(this.path, "ledger");
  }

  get pids(): string {
    return join(this.path, "workers");
  }

  /** What the workers log. */
  get log(): string {
    return join(this.path, "workers.log");
  }

  /** How long the load has lasted so far. */
  get ranMs(): number {
    return this.state.legs.reduce((sum, leg) => sum + leg.lastSeenMs - leg.startedAtMs, 0);
  }

  /** It is there completely or not at all. */
  save(): void {
    const file = join(this.path, "state.json");
    writeFileSync(`${file}.new`, JSON.stringify(this.state));
    renameSync(`${file}.new`, file);
  }

  count(what: string): void {
    this.state.happened[what] = (this.state.happened[what] ?? 0) + 1;
  }

  addSample(sample: Sample): void {
    appendFileSync(join(this.path, "samples.jsonl"), `${JSON.stringify(sample)}\n`);
  }

  samples(): Sample[] {
    const file = join(this.path, "samples.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as Sample] : []));
  }
}

function lockOf(path: string): string {
  return join(path, "soak.pid");
}

function takeLock(file: string): void {
  const holder = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  if (holder > 0 && holder !== process.pid && isAlive(holder))
    throw new Error(
      `Process ${String(holder)} works in this folder (${file}). Stop it with SIGINT, or name another folder`,
    );
  writeFileSync(file, String(process.pid));
}

/** A number may have been given to another program since, or to a thread: of this very process, too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (!existsSync("/proc/self/cmdline")) return true;
  const of = `/proc/${String(pid)}`;
  const isProcess = readFileSync(`${of}/status`, "utf8").includes(`\nTgid:\t${String(pid)}\n`);
  return isProcess && readFileSync(`${of}/cmdline`, "utf8").includes("soak-process");
}
