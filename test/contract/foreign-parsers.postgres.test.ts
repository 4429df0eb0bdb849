import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { types } from "pg";
import type { TaskStore } from "../../shared/ports/task-store";
import { nodeTimers } from "../../shared/platform/node-timers";
import { migrateStore, openListener } from "../../shared/store/open-store";
import { define, done, enqueue, startWorker } from "../support/builders";
import { useContention } from "../support/use-contention";
import { until } from "../support/gate";

/*
 * Programs set parsers of `pg` for their own rows, such as BigInt for int8; they hold for all connections of the process. The
 * store reads its answers in its own way, and the program's statements in the program's.
 */

const scene = useContention();
let store: TaskStore;

/** bool, int8, int2, int4, text, float8, name, void: each gives what no answer has. */
const changed = [16, 20, 21, 23, 25, 701, 19, 2278];
const usual = new Map(
  changed.map((oid) => [oid, types.getTypeParser(oid) as (text: string) => unknown]),
);

beforeEach(() => {
  store = scene.openStore(1);
  for (const oid of changed) types.setTypeParser(oid, (text: string) => ({ foreign: text }));
});
afterEach(() => {
  for (const [oid, parse] of usual) types.setTypeParser(oid, parse);
});

test("every call of a task's life is answered as ever", async () => {
  const name = await define(store, { limit: 2 });
  const input = { name, build: 1, operationId: null };
  const later = { kind: name, payload: "{}", runInMs: 60_000 };
  expect((await store.enqueueTasks({ ...input, tasks: [later] })).nextDueMs).toBeGreaterThan(0);
  await enqueue(store, name, 2);
  const worker = await startWorker(store, name);
  const task = await worker.claimOne();
  expect(
    await store.transaction((transaction) =>
      store.completeTask({ executionId: worker.executionId, ...done(task) }, transaction),
    ),
  ).toMatchObject({ status: "done" });
  const second = await worker.claimOne();
  expect(
    await store.transaction((transaction) =>
      store.completeTask(
        { executionId: worker.executionId, ...done(second), endsTransaction: true },
        transaction,
      ),
    ),
  ).toMatchObject({ status: "done" });
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
});

test("statements of the program's own are read as the program wants it", async () => {
  const rows = await store.transaction((transaction) => transaction.query("select 7::int8 as n"));
  expect(rows).toEqual([{ n: { foreign: "7" } }]);
});

test("a process that waits takes a place and hears of tasks", async () => {
  const news: string[] = [];
  const listener = openListener({
    url: scene.url,
    timers: nodeTimers,
    events: {
      onNews: (definition) => news.push(definition),
      onListening: () => undefined,
      onTrouble: () => undefined,
    },
  });
  if (listener === null) throw new Error("the database has no notifications");
  await until("it listens", async () => listener.isListening);
  await listener.wait("mail");
  expect(await store.notifyWaiting?.("mail", 1)).toBe(1);
  await until("it has heard", async () => news.length === 1);
  await listener.close();
});

test("a migration finds the schema as it is", async () => {
  expect(await migrateStore({ url: scene.url })).toMatchObject({ applied: [] });
});
