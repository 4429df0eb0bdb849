/* Workers that end by themselves are started again: real processes, ended by real signals. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import type { HostChild } from "../../shared/local/host-children";
import { WorkerHosts } from "../../shared/local/worker-hosts";
import type { WorkerState } from "../../shared/local/worker-hosts";
import { realClock, sleep } from "../../shared/platform/real-clock";

const waiting = "setInterval(() => {}, 1000)";

/** A process that runs this code, as a worker. */
async function startProcess(code: string): Promise<HostChild> {
  const child: ChildProcess = spawn(process.execPath, ["-e", code], { stdio: "ignore" });
  await once(child, "spawn");
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      resolve(signal ?? `exit code ${String(exitCode)}`);
    });
  });
  return {
    url: "",
    routes: [],
    pid: child.pid ?? 0,
    exited,
    kill: () => child.kill("SIGKILL"),
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < 500 && !holds(); look += 1) await sleep(20);
  expect(holds()).toBe(true);
}

interface Opened {
  readonly workers: WorkerHosts;
  /** Each end as it was told. */
  readonly ends: WorkerState[];
  readonly givenUp: string[];
  /** How often each was started. */
  readonly starts: Map<string, number>;
}

function openWorkers(
  names: readonly string[],
  code: (name: string, start: number) => string,
): Opened {
  const starts = new Map<string, number>();
  const ends: WorkerState[] = [];
  const givenUp: string[] = [];
  const workers = new WorkerHosts({
    names,
    start: (name) => {
      const start = (starts.get(name) ?? 0) + 1;
      starts.set(name, start);
      return startProcess(code(name, start));
    },
    onEnd: (worker) => ends.push(worker),
    onGivenUp: (name, lastWords) => givenUp.push(`${name} ${lastWords}`),
    nowMs: realClock.monotonicMs,
    pauseMs: 20,
  });
  return { workers, ends, givenUp, starts };
}

test("a killed host of three is told and started again, and the others run on", async () => {
  const { workers, ends, givenUp } = openWorkers(["a", "b", "c"], () => waiting);
  await workers.start();
  const before = workers.states();
  process.kill(before[1]?.pid ?? 0, "SIGKILL");
  await until(() => ends.length === 1 && workers.states().every(({ pid }) => pid !== null));
  expect(ends).toEqual([{ name: "b", pid: null, ends: 1, lastEnd: "SIGKILL" }]);
  const after = workers.states();
  expect(after[0]).toEqual(before[0]);
  expect(after[2]).toEqual(before[2]);
  expect(after[1]).toMatchObject({ name: "b", ends: 1, lastEnd: "SIGKILL" });
  expect(after[1]?.pid).not.toBe(before[1]?.pid);
  await workers.stop();
  expect(givenUp).toEqual([]);
  expect(ends).toHaveLength(1);
  for (const { pid } of [...before, ...after]) expect(isAlive(pid ?? 0)).toBe(false);
});

test("a host that ends at each start is given up after five ends, with its last words", async () => {
  const { workers, ends, givenUp, starts } = openWorkers(["a", "b"], (name) =>
    name === "b" ? "process.exit(3)" : waiting,
  );
  await workers.start();
  await until(() => givenUp.length > 0);
  expect(givenUp).toEqual(["b exit code 3"]);
  expect(ends.map(({ name, ends: count }) => `${name} ${String(count)}`)).toEqual(
    [1, 2, 3, 4, 5].map((count) => `b ${String(count)}`),
  );
  expect(starts.get("a")).toBe(1);
  await workers.stop();
});

test("a run that ends while a worker starts again leaves nothing behind", async () => {
  const { workers, starts } = openWorkers(["a"], () => waiting);
  await workers.start();
  process.kill(workers.states()[0]?.pid ?? 0, "SIGKILL");
  await until(() => workers.states()[0]?.pid === null);
  await workers.stop();
  const pid = workers.states()[0]?.pid ?? null;
  expect(pid).toBeNull();
  expect(starts.get("a")).toBeLessThanOrEqual(2);
});
