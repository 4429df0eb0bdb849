/** Runs `npm start`'s program, the compiled one, as a child process of a test. */
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../../shared/local/free-port";

export const root = join(__dirname, "..", "..");
const program = join(root, "dist", "shared", "local", "start.js");

/** Builds when a source is newer than the last build. */
export function ensureBuilt(): void {
  const builtAtMs = changedAtMs(join(root, "dist", "build-info.json"));
  const sources = ["functions", "shared"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) =>
      join(root, folder, String(name)),
    ),
  );
  const isFresh = sources.every((path) => changedAtMs(path) <= builtAtMs);
  if (!isFresh) execFileSync("npm", ["run", "build"], { cwd: root, stdio: "ignore" });
}

function changedAtMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** A folder for `.taskgate/` and `landing/` that others may enter, because PostgreSQL runs as another user under root. */
export function makeHome(): { home: string; remove: () => void } {
  const home = mkdtempSync(join(tmpdir(), "taskgate-e2e-"));
  // Else the data lies elsewhere, and stays there after the test.
  chmodSync(home, 0o755);
  return {
    home,
    remove: () => {
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** How a process ended. */
export interface LocalEnd {
  readonly code: number | null;
  readonly output: string;
  readonly tookMs: number;
}

/** A child that runs the sample. */
export interface LocalProcess {
  readonly port: number;
  readonly exited: Promise<LocalEnd>;
  output(): string;
  /** Resolves with the match; rejects when the process ends before, or after `timeoutMs`. */
  until(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** This process and everything below it, as process ids. */
  family(): number[];
}

/** Starts it, or another program that does the same. Nothing of the test's own environment but the path reaches it. */
export async function startLocal(
  home: string,
  args: readonly string[] = [],
  programFile = program,
): Promise<LocalProcess> {
  const port = await findFreePort();
  const has = (name: string): boolean => args.some((arg) => arg.startsWith(name));
  const given = [
    ...(has("--home") ? [] : ["--home", home]),
    ...(has("--port") ? [] : ["--port", String(port)]),
  ];
  const all = [...given, ...args];
  const { PATH, HOME } = process.env;
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [programFile, ...all], {
    cwd: home,
    env: { PATH, HOME },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const exited = new Promise<LocalEnd>((resolve) => {
    child.once("close", (code) => {
      resolve({ code, output, tookMs: performance.now() - startedAtMs });
    });
  });
  return {
    port,
    exited,
    output: () => output,
    until: (pattern, timeoutMs = 60_000) =>
      waitFor(child, { pattern, timeoutMs, read: () => output }),
    signal: (name) => child.kill(name),
    family: () => (child.pid === undefined ? [] : [child.pid, ...descendants(child.pid)]),
  };
}

/** Runs it to its end. */
export async function runLocal(home: string, args: readonly string[] = []): Promise<LocalEnd> {
  return (await startLocal(home, args)).exited;
}

function waitFor(
  child: ChildProcess,
  wait: { pattern: RegExp; timeoutMs: number; read: () => string },
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const startedAtMs = performance.now();
    const timer = setInterval(() => {
      const match = wait.pattern.exec(wait.read());
      const isOver = child.exitCode !== null || performance.now() - startedAtMs > wait.timeoutMs;
      if (match === null && !isOver) return;
      clearInterval(timer);
      if (match === null) reject(new Error(`${String(wait.pattern)} never came:\n${wait.read()}`));
      else resolve(match);
    }, 50);
  });
}

/** The process of a worker among these; undefined where there is no /proc to tell. */
export function workerAmong(pids: readonly number[], name: string): number | undefined {
  return pids.find((pid) => {
    try {
      const environment = readFileSync(`/proc/${String(pid)}/environ`, "utf8").split("\0");
      return environment.includes(`TASKGATE_WORKER_NAME=${name}`);
    } catch {
      return false;
    }
  });
}

/** By /proc; empty where there is none. */
function descendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of listProcesses()) {
    const parent = parentOf(name);
    if (parent !== null) parents.set(name, parent);
  }
  const found = new Set([pid]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child);
  }
  found.delete(pid);
  return [...found];
}

function listProcesses(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    const [, state, parent] = /^\d+ \(.*\) (\S) (\d+)/s.exec(status) ?? [];
    return state === "Z" || parent === undefined ? null : Number(parent);
  } catch {
    return null;
  }
}

/** Those of the processes that live; ended ones that weren't collected don't count. */
export function living(pids: readonly number[]): number[] {
  return pids.filter((pid) => parentOf(pid) !== null);
}
