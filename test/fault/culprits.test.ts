import { spawn } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskFacts, TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { register } from "../../shared/worker/client/register";
import { createRegistry } from "../../shared/worker/define/registry";
import { ensureBuilt } from "../functions/built-app";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { kindsOf, scenes } from "./culprits/scenes";

/*
 * Goal: what one handler does harms its own task: five neighbours in its definition and five in another one of the same
 * process end done, with at most two losses and no failed attempt, and the culprit ends within its attempts and losses.
 * Method: real processes, started again whenever they end, against one database; all scenes at once. Meanwhile the test
 * outside takes back what leases that ran out held, as a sweep does, but oftener.
 */
interface Report {
  readonly culprit: TaskFacts;
  readonly neighbours: TaskFacts[];
  readonly ends: string[];
  readonly doneMs: number[];
  readonly tookMs: number;
}

let store: TaskStore;
let url = "";
let close = async (): Promise<void> => undefined;
let isOver = false;
const reports = new Map<string, Promise<Report>>();

beforeAll(async () => {
  ensureBuilt();
  const database = await createTestDatabase();
  url = urlAs(database.url, "operator");
  store = openStore({ url, connectionsMax: 6, random: realRandom, sleep });
  const sweeping = (async () => {
    while (!isOver) {
      await store.reclaimExpired({ max: 20 });
      await sleep(200);
    }
  })();
  close = async () => {
    isOver = true;
    await sweeping;
    await Promise.allSettled(reports.values());
    await store.close();
    await database.drop();
  };
  for (const scene of Object.keys(scenes)) reports.set(scene, play(scene));
  for (const report of reports.values()) report.catch(() => undefined);
});

afterAll(async () => {
  await close();
});

async function enqueue(scene: string): Promise<{ culprit: TaskId; neighbours: TaskId[] }> {
  const kinds = kindsOf(scene);
  const { environment } = openWorkerBench([], { store });
  for (const definition of createRegistry(kinds).definitions)
    await register(environment, definition);
  const add = (name: string, kind: string, count: number) =>
    store
      .enqueueTasks({
        ...{ name, build: 1, operationId: null },
        tasks: Array.from({ length: count }, () => ({ kind: `${scene} ${kind}`, payload: "{}" })),
      })
      .then(({ taskIds }) => taskIds);
  const neighbours = [
    ...(await add(scene, "neighbour", 5)),
    ...(await add(`${scene} stranger`, "stranger", 5)),
  ];
  const [culprit] = await add(scene, "culprit", 1);
  if (culprit === undefined) throw new Error("nothing was enqueued");
  return { culprit, neighbours };
}

async function factsOf(taskId: TaskId): Promise<TaskFacts> {
  for (;;) {
    const { status, facts } = await store.explainTask({ taskId });
    if (facts !== null) return facts;
    // One that ends just now is between two containers for an instant.
    if (status !== "moving") throw new Error(`task ${taskId} is ${status}`);
  }
}

const isEnded = ({ state }: TaskFacts): boolean => state === "done" || state === "dead";

/** A process that is started again whenever it ends, until all tasks have ended. */
async function play(scene: string, thread = "thread"): Promise<Report> {
  const { culprit, neighbours } = await enqueue(scene);
  const beganMs = performance.now();
  const ends: string[] = [];
  const doneMs = new Map<TaskId, number>();
  const until = new AbortController();
  const keeping = keepAlive([scene, thread], ends, until.signal);
  try {
    for (;;) {
      const facts = await Promise.all([culprit, ...neighbours].map(factsOf));
      const tookMs = Math.round(performance.now() - beganMs);
      for (const [index, one] of facts.entries()) {
        const id = [culprit, ...neighbours][index];
        if (index > 0 && id !== undefined && one.state === "done" && !doneMs.has(id))
          doneMs.set(id, tookMs);
      }
      const [first, ...others] = facts;
      if (first !== undefined && facts.every(isEnded))
        return { culprit: first, neighbours: others, ends, doneMs: [...doneMs.values()], tookMs };
      if (tookMs > 100_000 || isOver)
        throw new Error(`${scene}: not over: ${facts.map(({ state }) => state).join(" ")}`);
      await sleep(100);
    }
  } finally {
    until.abort();
    await keeping;
  }
}

async function keepAlive(words: string[], ends: string[], until: AbortSignal): Promise<void> {
  const hook = join(__dirname, "culprits/register-built.cjs");
  const program = join(__dirname, "culprits/worker-process.ts");
  const [scene = "", thread = ""] = words;
  const isOnItsOwn = (): boolean => !until.aborted;
  while (isOnItsOwn()) {
    const args = ["-r", hook, program, urlAs(url, "worker"), scene, thread];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
    // It spins for most of its time: the others have little of the machine's otherwise.
    if (scene === "endless loop" && child.pid !== undefined) setPriority(child.pid, 5);
    const kill = (): void => void child.kill("SIGKILL");
    until.addEventListener("abort", kill, { once: true });
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    until.removeEventListener("abort", kill);
    if (isOnItsOwn()) ends.push(signal ?? `code ${String(code)}`);
  }
}

async function reportOf(scene: string): Promise<Report> {
  const report = await reports.get(scene);
  if (report === undefined) throw new Error(`${scene} wasn't played`);
  const { culprit, neighbours, doneMs, tookMs, ends } = report;
  console.info(
    `${scene}: neighbours done after ${String(Math.min(...doneMs))}-${String(Math.max(...doneMs))} ms, losses ${neighbours
      .map(({ lostCount }) => lostCount)
      .join(
        " ",
      )}; culprit ${culprit.state} after ${String(tookMs)} ms, failed ${String(culprit.failedCount)}, lost ${String(culprit.lostCount)}; process ended: ${ends.join(", ") || "never"}`,
  );
  return report;
}

test.each(Object.keys(scenes))(
  "every neighbour of %s is done without a failed attempt, after two losses at most",
  async (scene) => {
    const { neighbours } = await reportOf(scene);
    expect(neighbours).toHaveLength(10);
    for (const facts of neighbours) {
      expect(facts).toMatchObject({ state: "done", failedCount: 0 });
      expect(facts.lostCount).toBeLessThanOrEqual(2);
    }
  },
);

test("a hang harms no other task, counts as a failed attempt each time, and its process ends with code 75", async () => {
  const { culprit, neighbours, ends } = await reportOf("hang");
  expect(culprit).toMatchObject({ state: "dead", failedCount: 2, lostCount: 0 });
  expect(culprit.error).toMatch(/^timed out after 500 ms/);
  for (const facts of neighbours) expect(facts).toMatchObject({ lostCount: 0 });
  expect(ends.slice(0, 1)).toEqual(["code 75"]);
});

test("a busy loop of three leases loses nothing: its lease is renewed from beside the event loop", async () => {
  const { culprit, neighbours, ends } = await reportOf("busy loop");
  for (const facts of [culprit, ...neighbours])
    expect(facts).toMatchObject({ state: "done", lostCount: 0, failedCount: 0 });
  expect(ends).toEqual([]);
});

test("a task that ends its process, or never lets go of it, is dead within its losses", async () => {
  expect((await reportOf("exit")).culprit).toMatchObject({ state: "dead", lostCount: 4 });
  const endless = await reportOf("endless loop");
  expect(endless.culprit).toMatchObject({ state: "dead", lostCount: 3 });
  expect(endless.ends.slice(0, 2)).toEqual(["SIGKILL", "SIGKILL"]);
});
