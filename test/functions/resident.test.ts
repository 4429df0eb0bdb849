/*
 * `taskgate work` as real processes on a real PostgreSQL: no Functions host, no storage queue.
 */
import { tmpdir } from "node:os";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Client } from "pg";
import { taskRef } from "../../shared";
import { runCli } from "../../shared/cli/main";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { commandsOf } from "../docs/paste-shell";
import { readBlock } from "../docs/markdown";
import { noteRun, testBlocksRan } from "../docs/run-blocks";
import { rowsOf } from "../migration/empty-database";
import { testPosix } from "../support/posix";
import { urlAs } from "../support/roles";
import { idsOf, mostAtOnce, openResidentApp } from "./resident-app";
import type { ResidentApp } from "./resident-app";

const tasks = `[
  defineTask({ name: "quick", run: async ({ id }) => note("begin", id) }),
  defineTask({ name: "capped", limit: 3, retry: { attempts: 1 }, run: async ({ id, ms }, { attempt, signal }) => {
    note("begin", id);
    note("attempt", attempt);
    try { await sleep(ms, undefined, { signal }); note("done", id); } finally { note("end", id); }
  } }),
  defineTask({ name: "parent", run: async ({ id }, ctx) => { note("begin", id); await ctx.enqueue(taskRef({ name: "quick" }), { id: id + "-child" }); } }),
  defineTask({ name: "load", limit: 4, within: [{ name: "partner-api", limit: 3 }], run: async ({ id }) => { note("begin", id); await sleep(100); } }),
  defineTask({ name: "sum", limit: 4, within: [{ name: "partner-api", limit: 3 }], run: async ({ id }) => note("begin", id) }),
  defineTask({ name: "resize", run: async ({ id }) => { note("begin", id); } }),
  defineTask({ name: "mail", run: async ({ id }) => { note("begin", id); } }),
  defineTask({ name: "lost", leaseMs: 2_000, run: async ({ id }, { signal }) => { note("begin", id); await sleep(60_000, undefined, { signal }); } }),
]`;
const quick = taskRef<{ id: string }>({ name: "quick" });
const capped = taskRef<{ id: string; ms: number }>({ name: "capped" });
const parent = taskRef<{ id: string }>({ name: "parent" });
const load = taskRef<{ id: string }>({ name: "load" });
const lost = taskRef<{ id: string }>({ name: "lost" });
const options = { connectionsMax: 1, random: realRandom, sleep };
/** Polls can't be what finds a task. */
const rarely = ["--poll", "10m"];

let app: ResidentApp;
beforeAll(async () => {
  app = await openResidentApp(tasks);
}, 180_000);
afterAll(async () => {
  await app.close();
});
afterEach(() => app.killAll());
beforeEach(() => {
  app.notes.length = 0;
  app.lines.length = 0;
});

const isWorking = (): boolean => app.lines.some((line) => line.includes("working"));

/** Waits until a listener of each process waits for the definition: from then on it is notified. */
async function untilWaiting(processes: number): Promise<void> {
  const client = new Client({ connectionString: app.url });
  await client.connect();
  const text = `select count(distinct l.pid)::int as waiting from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.objid > 0 and a.application_name = 'taskgate-listener' and a.datname = current_database()`;
  for (;;) {
    const { rows } = await client.query<{ waiting: number }>(text);
    if (rows[0]?.waiting === processes) break;
    await sleep(20);
  }
  await client.end();
}

/** As plain SQL does: no process is told. */
async function enqueuePlainly(name: string, payload: object): Promise<void> {
  const store = openStore({ ...options, url: urlAs(app.url, "worker") });
  const task = { kind: name, payload: JSON.stringify(payload) };
  await store.enqueueTasks({ name, build: 1, operationId: null, tasks: [task] });
  await store.close();
}

/** What was given back may wait in either. */
async function dropWaiting(): Promise<void> {
  await rowsOf(
    app.url,
    `with ready as (delete from taskgate.ready returning task_id), later as (delete from taskgate.scheduled returning task_id)
     delete from taskgate.task t using (select * from ready union all select * from later) gone where t.task_id = gone.task_id returning 1`,
  );
}

/** Adds two tasks of a second for a process that runs one at once. */
async function untilOneOfTwoRuns(): Promise<void> {
  await app.until(isWorking);
  await app.client.enqueueMany(capped, [
    { id: "running", ms: 1_000 },
    { id: "waiting", ms: 1_000 },
  ]);
  await app.until(() => idsOf(app.notes, "begin").length === 1);
}

/** By two signals: no handler is waited for. */
async function endAtOnce(worker: ReturnType<ResidentApp["start"]>): Promise<void> {
  const isEnding = (line: string): boolean => line.includes("ending");
  const before = app.lines.filter(isEnding).length;
  worker.kill("SIGTERM");
  await app.until(() => app.lines.filter(isEnding).length > before);
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
}

test("a resident worker runs tasks that wait, new ones and children of tasks, and ends with 0 on SIGTERM", async () => {
  const worker = app.start(rarely);
  await app.until(isWorking);
  await app.client.enqueue(quick, { id: "first" });
  await app.client.enqueue(parent, { id: "family" });
  await app.until(() => idsOf(app.notes, "begin").length === 3);
  expect(idsOf(app.notes, "begin").sort()).toEqual(["family", "family-child", "first"]);
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
}, 120_000);

test("a resident worker works for the definitions that are named by position and by --definitions, and for no other", async () => {
  const worker = app.start(["quick", "-d", "capped,quick"]);
  await app.until(isWorking);
  expect(app.lines.find((line) => line.includes("working"))).toMatch(
    /definitions="?quick, capped"?/,
  );
  await app.client.enqueue(parent, { id: "family" });
  await app.client.enqueue(capped, { id: "second", ms: 1 });
  await app.client.enqueue(quick, { id: "first" });
  await app.until(() => idsOf(app.notes, "begin").length === 2);
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
  expect(idsOf(app.notes, "begin").sort()).toEqual(["first", "second"]);
  await dropWaiting();
}, 120_000);

test("two resident processes hold the limit together, and what one is told to leave is run by the other, uncounted", async () => {
  const first = app.start(["-d", "capped", "--grace", "1ms"]);
  await app.until(isWorking);
  const ids = Array.from({ length: 12 }, (_, index) => String(index));
  await app.client.enqueueMany(
    capped,
    ids.map((id) => ({ id, ms: 400 })),
  );
  await app.until(() => idsOf(app.notes, "begin").length >= 3);
  const second = app.start(["-d", "capped"]);
  first.kill("SIGTERM");
  expect(await first.ended).toBe(0);
  await app.until(() => idsOf(app.notes, "done").length === ids.length);
  second.kill("SIGTERM");
  expect(await second.ended).toBe(0);

  expect(mostAtOnce(app.notes)).toBe(3);
  // Some began twice: in each process once.
  expect(idsOf(app.notes, "begin").length).toBeGreaterThan(ids.length);
  expect(idsOf(app.notes, "done").sort()).toEqual([...ids].sort());
  // Of each task that was given back as well.
  expect(new Set(idsOf(app.notes, "attempt"))).toEqual(new Set(["1"]));
  await expectSound();
}, 180_000);

testPosix(
  "a worker that npm has started ends as told when npm is: npm passes no signal on",
  async () => {
    const words = ["-d", "capped", "--concurrency", "1", "--grace", "30s"];
    const npm = app.start(words, { npm_command: "exec" });
    await untilOneOfTwoRuns();
    npm.kill("SIGTERM");
    expect(await npm.ended).toBe("SIGTERM");
    expect(app.lines.filter((line) => line.includes("passes no SIGTERM on"))).toHaveLength(1);
    expect(idsOf(app.notes, "done")).toEqual(["running"]);
    expect(await openExecutions()).toEqual([]);
    await dropWaiting();
  },
  120_000,
);

test("a running task may finish within the grace, and nothing further begins", async () => {
  const worker = app.start(["-d", "capped", "--concurrency", "1", "--grace", "30s"]);
  await untilOneOfTwoRuns();
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
  expect(idsOf(app.notes, "done")).toEqual(["running"]);
  expect(idsOf(app.notes, "begin")).toEqual(["running"]);
  expect(await openExecutions()).toEqual([]);

  const next = app.start(["-d", "capped"]);
  await app.until(() => idsOf(app.notes, "done").includes("waiting"));
  next.kill("SIGINT");
  expect(await next.ended).toBe(0);
}, 120_000);

test("a second SIGTERM waits for no handler, and running tasks are given back", async () => {
  const worker = app.start(["-d", "capped", "--grace", "1h"]);
  await app.until(isWorking);
  await app.client.enqueue(capped, { id: "long", ms: 50_000 });
  await app.until(() => idsOf(app.notes, "begin").length === 1);
  await endAtOnce(worker);
  expect(idsOf(app.notes, "end")).toEqual(["long"]);
  expect(await openExecutions()).toEqual([]);
  await dropWaiting();
}, 120_000);

test("a task that arrives while another one runs starts beside it, found by a notification or by a poll", async () => {
  const notified = app.start(["-d", "capped", ...rarely]);
  await app.until(isWorking);
  await untilWaiting(1);
  await app.client.enqueue(capped, { id: "long", ms: 50_000 });
  await app.until(() => idsOf(app.notes, "begin").length === 1);
  await app.client.enqueue(capped, { id: "second", ms: 1 });
  await app.until(() => idsOf(app.notes, "end").length === 1);
  expect(idsOf(app.notes, "done")).toEqual(["second"]);
  await endAtOnce(notified);

  // The long one runs again; of what plain SQL adds nobody is told.
  const polling = app.start(["-d", "capped", "--poll", "1s"]);
  await app.until(() => idsOf(app.notes, "begin").filter((id) => id === "long").length === 2);
  await enqueuePlainly("capped", { id: "third", ms: 1 });
  await app.until(() => idsOf(app.notes, "end").includes("third"));
  expect(idsOf(app.notes, "end")).toEqual(["second", "long", "third"]);
  await endAtOnce(polling);
  await dropWaiting();
}, 120_000);

test("a process that is killed loses its task to another resident process, without a function app", async () => {
  const first = app.start(["-d", "lost"]);
  await app.until(isWorking);
  await app.client.enqueue(lost, { id: "orphan" });
  await app.until(() => idsOf(app.notes, "begin").length === 1);
  first.kill("SIGKILL");
  expect(await first.ended).toBe("SIGKILL");
  const second = app.start(["-d", "lost", "--grace", "1ms"]);
  await app.until(() => idsOf(app.notes, "begin").length === 2);
  second.kill("SIGTERM");
  expect(await second.ended).toBe(0);
  await expectSound();
}, 120_000);

test("tasks of an idle process are found by notifications alone, also after the listener's connection broke", async () => {
  const worker = app.start([...rarely, "-d", "quick"]);
  await app.until(isWorking);
  await untilWaiting(1);
  await app.client.enqueue(quick, { id: "one" });
  await app.until(() => idsOf(app.notes, "begin").includes("one"));
  // The execution that waits for a while has ended: between executions nothing is held.
  for (let open = 1; open > 0; open = (await openExecutions()).length) await sleep(100);
  await app.client.enqueue(quick, { id: "two" });
  await app.until(() => idsOf(app.notes, "begin").includes("two"));

  await rowsOf(
    app.url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'taskgate-listener' and datname = current_database()",
  );
  await app.client.enqueue(quick, { id: "three" });
  await app.until(() => idsOf(app.notes, "begin").includes("three"));
  await untilWaiting(1);
  await app.client.enqueue(quick, { id: "four" });
  await app.until(() => idsOf(app.notes, "begin").includes("four"));
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
}, 120_000);

test("a delayed task starts when it is due, though polls are rare", async () => {
  const worker = app.start([...rarely, "-d", "quick"]);
  await app.until(isWorking);
  await untilWaiting(1);
  await app.client.enqueue(quick, { id: "later" }, { runInMs: 700 });
  await app.until(() => idsOf(app.notes, "begin").includes("later"));
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
}, 120_000);

test("polls find tasks that plain SQL has enqueued, which sends no notification", async () => {
  const worker = app.start(["--poll", "500ms", "-d", "quick"]);
  await app.until(isWorking);
  await enqueuePlainly("quick", { id: "by-sql" });
  await app.until(() => idsOf(app.notes, "begin").includes("by-sql"));
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
}, 120_000);

test("a definition whose task came without a notification gets a token of a shared limit that another one keeps busy", async () => {
  const worker = app.start(["--poll", "500ms", "-d", "load", "-d", "sum"]);
  await app.until(isWorking);
  const loads = Array.from({ length: 200 }, (_, index) => ({ id: `load-${String(index)}` }));
  await app.client.enqueueMany(load, loads);
  await app.until(() => app.notes.length >= 3);
  await enqueuePlainly("sum", { id: "sum" });
  await app.until(() => idsOf(app.notes, "begin").includes("sum"));
  // 20 s of the other one's work; one task at a time.
  expect(app.notes.length).toBeLessThan(120);
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
  await dropWaiting();
}, 120_000);

test("an unknown definition ends the command with 3 and names the near one; a bad setting ends it with 2", async () => {
  const unknown = app.start(["-d", "cappd"]);
  expect(await unknown.ended).toBe(3);
  expect(app.lines.join("\n")).toContain("Did you mean `capped`?");
  const bad = app.start([], { TASKGATE_CONNECTIONS_MAX: "many" });
  expect(await bad.ended).toBe(2);
}, 120_000);

test("doctor --latency measures with the probe, and says how to get it where there is none", async () => {
  expect(await doctor()).toContain("latency: Not measured: no app has the probe");
  const worker = app.start(["-d", "taskgate-probe"], { TASKGATE_PROBE: "on" });
  await app.until(isWorking);
  expect(await doctor()).toMatch(
    /latency: taskgate-probe: from the enqueue to the handler \d+ ms in the middle, \d+ ms at most, of 4 tasks/,
  );
  worker.kill("SIGTERM");
  expect(await worker.ended).toBe(0);
}, 120_000);

async function doctor(): Promise<string> {
  const lines: string[] = [];
  const output = {
    line: (text: string) => lines.push(text),
    error: (text: string) => lines.push(text),
    columns: null,
  };
  const environment = { TASKGATE_DATABASE_URL: urlAs(app.url, "app") };
  const code = await runCli({
    words: ["doctor", "--latency"],
    environment,
    folder: tmpdir(),
    output,
  });
  expect([0, 1]).toContain(code);
  return lines.join("\n");
}

async function openExecutions(): Promise<unknown[]> {
  return rowsOf(app.url, "select task_execution_id from taskgate.task_execution where state = 1");
}

async function expectSound(): Promise<void> {
  const store = openStore({ ...options, url: urlAs(app.url, "operator") });
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  await store.close();
}

test("each example of `taskgate work` in the reference runs a task until it is told to end", async () => {
  const place = ["docs/reference/cli.md", "examples-work"] as const;
  const lines = commandsOf(readBlock(...place).text).filter((line) => !line.startsWith("#"));
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    app.notes.length = 0;
    app.lines.length = 0;
    const [, , ...words] = line.split(" ");
    const worker = app.start(words);
    await app.until(isWorking);
    await app.client.enqueueMany(taskRef<{ id: string }>({ name: "resize" }), [{ id: "1" }]);
    await app.client.enqueueMany(taskRef<{ id: string }>({ name: "mail" }), [{ id: "2" }]);
    await app.until(() => idsOf(app.notes, "begin").length === 2);
    worker.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
  }
  noteRun(place);
});

testBlocksRan([["docs/reference/cli.md", "examples-work"]]);
