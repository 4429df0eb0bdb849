/**
 * Nothing is left behind: however a process ends, the services it started are gone within 2 s.
 * Method: a real parent process with a real PostgreSQL (with an open connection) and Azurite; the
 * process table before and after.
 */
import { execFile, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { startService } from "../../shared/local/supervised-service";
import { fewOf } from "../support/whole";

const run = promisify(execFile);
const GONE_WITHIN_MS = 2_000;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskgate-test-"));
  await chmod(folder, 0o755);
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Living processes with their parents; a dead one that wasn't collected counts as gone. */
async function processTable(): Promise<Map<number, number>> {
  const { stdout } = await run("ps", ["-eo", "pid=,ppid=,stat="]);
  const table = new Map<number, number>();
  for (const line of stdout.trim().split("\n")) {
    const [pid, parent, state = ""] = line.trim().split(/\s+/);
    if (!state.startsWith("Z")) table.set(Number(pid), Number(parent));
  }
  return table;
}

async function descendantsOf(ancestor: number): Promise<number[]> {
  const table = await processTable();
  const found = [ancestor];
  for (const pid of found) {
    for (const [child, parent] of table) if (parent === pid) found.push(child);
  }
  return found.slice(1);
}

async function survivorsAfter(pids: readonly number[], timeoutMs: number): Promise<number[]> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const table = await processTable();
    const alive = pids.filter((pid) => table.has(pid));
    if (alive.length === 0 || Date.now() > deadlineMs) return alive;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface Family {
  readonly parent: ChildProcess;
  readonly dataDir: string;
  readonly pids: readonly number[];
  readonly connection: Client;
}

async function startFamily(...more: string[]): Promise<Family> {
  const dataDir = join(folder, "data");
  const parent = fork(join(__dirname, "fixtures", "services-process.ts"), [dataDir, ...more], {
    execArgv: ["-r", join(__dirname, "..", "support", "register-swc.cjs")],
    // A process group of its own, so that a signal to the group does not reach the test.
    detached: true,
  });
  const [ready] = (await once(parent, "message")) as [{ url: string; pids: number[] }];
  const connection = new Client(ready.url);
  connection.on("error", () => undefined);
  await connection.connect();
  const pids = await descendantsOf(parent.pid ?? 0);
  // The supervisor, PostgreSQL with its own children, Azurite.
  expect(pids).toEqual(expect.arrayContaining(ready.pids));
  expect(pids.length).toBeGreaterThan(3);
  return { parent, dataDir, pids, connection };
}

describe("all services are gone within 2 s", () => {
  const ways: [string, (parentPid: number) => void][] = [
    ["SIGTERM", (pid) => process.kill(pid, "SIGTERM")],
    ["kill -9", (pid) => process.kill(pid, "SIGKILL")],
    ["SIGINT", (pid) => process.kill(pid, "SIGINT")],
    ["Ctrl-C, that is SIGINT to the group", (pid) => process.kill(-pid, "SIGINT")],
  ];

  test.each(fewOf(ways, 2))(
    "all services are gone within 2 s after %s to the parent",
    async (_name, end) => {
      const { parent, dataDir, pids, connection } = await startFamily();
      const pid = parent.pid ?? 0;
      end(pid);
      expect(await survivorsAfter([pid, ...pids], GONE_WITHIN_MS)).toEqual([]);
      expect(existsSync(dataDir)).toBe(false);
      await connection.end().catch(() => undefined);
    },
  );

  test("all services are gone within 2 s after Ctrl-C to a parent that uses them once more before it stops them", async () => {
    const { parent, pids, connection } = await startFamily("orderly");
    process.kill(-(parent.pid ?? 0), "SIGINT");
    const [last] = (await once(parent, "message")) as [unknown];
    // Ctrl-C reached the parent only: the database still answered.
    expect(last).toEqual({ rows: [{ answer: 1 }] });
    expect(await survivorsAfter(pids, GONE_WITHIN_MS)).toEqual([]);
    await connection.end().catch(() => undefined);
  });

  test("all services are gone within 2 s after kill -9 to the supervisor, while the parent lives", async () => {
    const { parent, pids, connection } = await startFamily();
    const table = await processTable();
    const supervisors = pids.filter((pid) => table.get(pid) === parent.pid);
    expect(supervisors).toHaveLength(1);
    for (const pid of supervisors) process.kill(pid, "SIGKILL");
    expect(await survivorsAfter(pids, GONE_WITHIN_MS)).toEqual([]);
    parent.kill("SIGKILL");
    await connection.end().catch(() => undefined);
  });
});

describe("a service", () => {
  test("a service that ignores its first stop signals gets the last one", async () => {
    const service = await startService({
      command: process.execPath,
      args: ["-e", "process.on('SIGINT', () => {}); console.log('up'); setInterval(() => {}, 1e6)"],
      stopSteps: ["SIGINT", "SIGKILL"],
      stopStepMs: 50,
    });
    await service.waitForOutput(/up/, 10_000);
    expect(await service.stop()).toEqual({ code: null, signal: "SIGKILL", problems: [] });
    expect(await service.stop()).toEqual({ code: null, signal: "SIGKILL", problems: [] });
  });

  test("a service that no signal ends is ended by a program, and one that isn't there gives way to the next", async () => {
    const folderOfSign = await mkdtemp(join(tmpdir(), "taskgate-test-"));
    const sign = JSON.stringify(join(folderOfSign, "end"));
    const isThere = `require('node:fs').existsSync(${sign})`;
    const service = await startService({
      command: process.execPath,
      args: ["-e", `console.log('up'); setInterval(() => ${isThere} && process.exit(7), 20)`],
      stopSteps: [
        { command: "/no/such/program", args: [] },
        {
          command: process.execPath,
          args: ["-e", `require('node:fs').writeFileSync(${sign}, '')`],
        },
      ],
      // Longer than a test may take: only the error of the first step leads to the second.
      stopStepMs: 600_000,
      removeAfter: [folderOfSign],
    });
    await service.waitForOutput(/up/, 10_000);
    expect(await service.stop()).toEqual({ code: 7, signal: null, problems: [] });
  });

  test("a service that cannot be started says why", async () => {
    const start = startService({ command: "/no/such/program", args: [], stopSteps: ["SIGKILL"] });
    await expect(start).rejects.toMatchObject({ name: "ServiceStartError", code: "ENOENT" });
  });

  test("a service that ends before it is ready gives its last words", async () => {
    const service = await startService({
      command: process.execPath,
      args: ["-e", "console.error('no such luck'); process.exitCode = 3"],
      stopSteps: ["SIGKILL"],
    });
    await expect(service.waitForOutput(/ready/, 10_000)).rejects.toThrow("no such luck");
    expect(await service.exited).toMatchObject({ code: 3, signal: null });
  });
});
