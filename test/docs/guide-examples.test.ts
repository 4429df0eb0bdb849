import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Client } from "pg";
import { defineTask, GiveUp, RetryLater } from "../../shared";
import type { TaskClient } from "../../shared";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { runTaskOnce, TestBench } from "../../shared/testing";
import type { AnyTaskKind, TaskKind } from "../../shared/worker/define/task-kind";
import { ensureBuilt } from "../functions/built-app";
import { define, enqueueOne, startWorker } from "../support/builders";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { readBlock } from "./markdown";
import { pasteShell } from "./paste-shell";
import { loadBlock, noteRun, pasteSql, testBlocksRan } from "./run-blocks";

/* Goal: examples of the guides run as pasted, and do what the guides say of them. */
const runbook = "docs/operate/runbook.md";
const comingFrom = "docs/guides/coming-from.md";
const limits = "docs/guides/limits.md";
const batches = "docs/guides/batches.md";
const anywhere = "docs/guides/enqueue-from-anywhere.md";
const dayMs = 86_400_000;

let database: { url: string; drop(): Promise<void> };
let store: TaskStore;
beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, connectionsMax: 3, random: realRandom, sleep });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

interface Approval {
  readonly finish: TaskKind<{ order: string; answer: string }>;
  readonly expire: TaskKind<{ order: string }>;
  readonly approve: (client: TaskClient, order: string) => Promise<boolean>;
}

describe("a person's word", () => {
  const answersOf = async (order: readonly ("approve" | "wait")[]): Promise<unknown> => {
    const { finish, expire, approve } = await loadBlock<Approval>([batches, "approval"]);
    const bench = new TestBench([finish, expire]);
    const came: boolean[] = [];
    await bench.enqueue(expire, { order: "7" });
    for (const step of order) {
      if (step === "approve") came.push(await approve(bench as unknown as TaskClient, "7"));
      else bench.advance(3 * dayMs);
      await bench.drain();
    }
    const tasks = await bench.tasks({ kind: finish });
    return { came, answers: tasks.map(({ payload }) => payload) };
  };

  test("an answer in time is the only one, also when it comes twice", async () => {
    expect(await answersOf(["approve", "approve", "wait"])).toEqual({
      came: [true, false],
      answers: [{ order: "7", answer: "approved" }],
    });
  });

  test("an answer behind the end of the time is a duplicate", async () => {
    expect(await answersOf(["wait", "approve"])).toEqual({
      came: [false],
      answers: [{ order: "7", answer: "no answer in three days" }],
    });
  });
});

describe("a partner that answers 429", () => {
  test("the example's checkpoint is no failure and comes back after Retry-After", async () => {
    const { pushOrder } = await loadBlock<{
      pushOrder: TaskKind<{ customer: string; order: string }>;
    }>([limits, "too-many"]);
    const partner = createServer((_, response) => {
      response.writeHead(429, { "retry-after": "7" }).end();
    });
    await new Promise<void>((resolve) => partner.listen(0, "127.0.0.1", resolve));
    const { port } = partner.address() as AddressInfo;
    const real = globalThis.fetch;
    globalThis.fetch = (_, init) => real(`http://127.0.0.1:${String(port)}/`, init);
    try {
      const run = await runTaskOnce(pushOrder, { payload: { customer: "a", order: "1" } });
      expect(run.end).toMatchObject({ kind: "continued" });
      const bench = new TestBench([pushOrder]);
      await bench.enqueue(pushOrder, { customer: "a", order: "1" });
      await bench.drain();
      expect(await bench.tasks()).toMatchObject([{ state: "scheduled", failedCount: 0 }]);
      expect((await bench.tasks())[0]?.dueInMs).toBe(7_000);

      const { client, work } = openWorkerBench([pushOrder], { store });
      const { taskId } = await client.enqueue(pushOrder, { customer: "a", order: "1" });
      await work("push-order");
      expect(await client.tasks.read(taskId)).toMatchObject({ state: "scheduled", failedCount: 0 });
    } finally {
      globalThis.fetch = real;
      partner.close();
    }
  });

  test("RetryLater uses up an attempt each time", async () => {
    const later = defineTask({
      name: "later",
      retry: { attempts: 2 },
      run: () => Promise.reject(new RetryLater(1_000)),
    });
    const bench = new TestBench([later]);
    await bench.enqueue(later, {});
    await bench.settle();
    expect(await bench.deadLetters()).toMatchObject([{ failedCount: 2 }]);
  });

  test("a strict group waits for the checkpoint of its first task, another one doesn't", async () => {
    const orderOf = async (strict: boolean): Promise<string> => {
      const ran: number[] = [];
      const kind = defineTask<{ customer: string; n: number }>({
        name: "push",
        limit: 8,
        group: { by: "customer", strict },
        run: ({ n }, ctx) => {
          ran.push(n);
          const isRefused = n === 1 && ctx.restored === null;
          return Promise.resolve(isRefused ? ctx.checkpoint({ n }, { afterMs: 5_000 }) : undefined);
        },
      });
      const bench = new TestBench([kind]);
      await bench.enqueueMany(
        kind,
        [1, 2].map((n) => ({ customer: "a", n })),
      );
      await bench.settle();
      return ran.join(" ");
    };
    expect(await orderOf(false)).toBe("1 2 1");
    expect(await orderOf(true)).toBe("1 1 2");
  });
});

describe("coming from another queue", () => {
  test("the schedule over a table adds the reports that are due, once", async () => {
    const { dueReports } = await loadBlock<{ dueReports: AnyTaskKind }>([comingFrom, "coming-due"]);
    const report = defineTask<{ customer: string }>({
      name: "report",
      run: () => Promise.resolve(),
    });
    await withClient(database.url, (client) =>
      client.query(`
        create table report_plan (customer text, every interval, next_at timestamptz);
        insert into report_plan values ('ada', '1 day', now()), ('bob', '1 day', now() + interval '1 hour')`),
    );
    const bench = openWorkerBench([dueReports, report], { store });
    for (let run = 1; run <= 2; run += 1) {
      await bench.client.enqueue(dueReports, {});
      await bench.work("due-reports");
    }
    const { tasks } = await store.listTasks({ name: "report", state: "ready", max: 10 });
    const added = await Promise.all(tasks.map(({ task }) => store.explainTask({ taskId: task })));
    expect(added.map(({ facts }) => JSON.parse(facts?.payload ?? "null") as unknown)).toEqual([
      { customer: "ada" },
    ]);
  });

  test("the SQL reads a task and cancels it, each with its role", async () => {
    const name = await define(store, {});
    const task = await enqueueOne(store, name);
    const [read = "", cancel = ""] = readBlock(comingFrom, "coming-sql")
      .text.replace("explain_task(1)", `explain_task(${task})`)
      .replace("array[1]", `array[${task}]`)
      .split(";\n");
    await withClient(database.url, async (client) => {
      await client.query("set role taskgate_worker");
      expect((await client.query(read)).rows).toMatchObject([{ status: "found", state: "ready" }]);
      await expect(client.query(cancel)).rejects.toThrow("permission denied");
      await client.query("set role taskgate_operator");
      const { rows } = await client.query<{ results: string }>(cancel);
      expect(JSON.parse(rows[0]?.results ?? "[]")).toMatchObject([{ outcome: "cancelled" }]);
    });
    noteRun([comingFrom, "coming-sql"]);
  });

  test("a done task without retention leaves no row", async () => {
    const gone = defineTask({
      name: "gone",
      retain: { doneMs: 0 },
      run: () => Promise.resolve({ a: 1 }),
    });
    const bench = openWorkerBench([gone], { store });
    const { taskId } = await bench.client.enqueue(gone, {});
    await bench.work("gone");
    await expect(bench.client.waitFor(gone, taskId)).rejects.toMatchObject({
      code: "TASKGATE_ARG_UNKNOWN",
    });
  });
});

describe("tasks that exist", () => {
  test("an order's task is cancelled by its id, and told where it can't be", async () => {
    const { orderCancelled } = await loadBlock<{
      orderCancelled: (client: TaskClient, taskId: string) => Promise<string>;
    }>([anywhere, "tasks-that-exist"]);
    const ship = defineTask<{ fails: boolean }>({
      name: "ship-order",
      run: ({ fails }) => Promise.reject(new GiveUp(fails ? "no stock" : "")),
    });
    const bench = openWorkerBench([ship]);
    const [dead, waiting] = await bench.client.enqueueMany(ship, [
      { fails: true },
      { fails: false },
    ]);
    expect(await orderCancelled(bench.client, waiting?.taskId ?? "")).toBe("cancelled");
    await bench.work("ship-order");
    expect(await orderCancelled(bench.client, dead?.taskId ?? "")).toMatch(
      /^failed 1 times: .*no stock/,
    );
    expect(await orderCancelled(bench.client, "4711")).toContain("unknown");
  });
});

describe("an alert without Application Insights", () => {
  /** What the shell's example says where it fails, else nothing. */
  const poll = (): Promise<string> =>
    pasteShell([runbook, "alert"], { env: { TASKGATE_DATABASE_URL: database.url } }).catch(
      (error: unknown) => (error as Error).message,
    );

  test("the query of a login with one right names dead letters and unserved tasks; the poll fails", async () => {
    ensureBuilt();
    expect(await poll()).toBe("");
    const name = await define(store, { retryAttempts: 1 }, "failing");
    await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const [claim] = await worker.claim(1);
    if (claim === undefined) throw new Error("nothing was claimed");
    await worker.fail([claim], { as: "dead", error: "no" });
    await worker.finish();
    await define(store, {}, "unserved");
    await enqueueOne(store, "unserved");
    expect(await poll()).toMatch(/\ndead: 1 expired: 0\n$/);

    const login = `monitor_${String(process.pid)}`;
    await withClient(database.url, async (client: Client) => {
      await client.query(`create role ${login}`);
      try {
        await pasteSql([runbook, "alert-rights"], (sql) =>
          client.query(sql.replaceAll("monitor", login)),
        );
        await client.query(`set role ${login}`);
        const { rows } = await pasteSql([runbook, "alert-query"], (sql) =>
          client.query<object>(sql),
        );
        expect(rows).toEqual(
          expect.arrayContaining([
            { name: "failing", ready: "0", dead: "1" },
            { name: "unserved", ready: "1", dead: "0" },
          ]),
        );
        await expect(client.query("select 1 from taskgate.task")).rejects.toThrow("permission");
      } finally {
        await client.query(`reset role; drop owned by ${login}; drop role ${login}`);
      }
    });
  });
});

testBlocksRan([
  [batches, "approval"],
  [limits, "too-many"],
  [comingFrom, "coming-due"],
  [comingFrom, "coming-sql"],
  [anywhere, "tasks-that-exist"],
  [runbook, "alert"],
  [runbook, "alert-rights"],
  [runbook, "alert-query"],
]);
