import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { TaskClient, TaskKind } from "../../shared";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import { factsOf } from "../support/builders";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { notingKind, openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { loadBlock, testBlocksRan } from "./run-blocks";

/* Goal: the batches of the guide run as pasted on PostgreSQL: each wave opens behind the one before, and rows pass between them. */
const page = "docs/guides/batches.md";
let scene: GuideScene;

beforeAll(async () => {
  scene = await openGuideScene(
    "create table word_part (wave_id bigint, task_id bigint primary key, words int); grant all on word_part to public",
  );
}, 60_000);
afterAll(() => scene.close());

test("startNightly loads all files, then sums the regions up, then writes the report", async () => {
  const { startNightly } = await loadBlock<{
    startNightly: (files: string[], regions: string[]) => Promise<void>;
  }>([page, "nightly"]);
  const ran: string[] = [];
  const kinds = ["load", "sum", "report"].map((name) => notingKind(name, ran));
  const bench = openWorkerBench(kinds, { store: scene.store });
  const workAll = async (): Promise<void> => {
    for (const name of ["report", "sum", "load"]) await bench.work(name);
  };
  // Registers the definitions.
  await workAll();
  await startNightly(["a", "b"], ["north"]);
  await workAll();
  expect(ran).toEqual(["load a", "load b"]);
  await workAll();
  expect(ran).toEqual(["load a", "load b", "sum north"]);
  await workAll();
  expect(ran).toEqual(["load a", "load b", "sum north", "report"]);
});

test("importOrders makes a batch whose report comes behind its parts, and startOrders starts it", async () => {
  const { importOrders, startOrders } = await loadBlock<{
    importOrders: TaskKind<{ file: string; parts: number }>;
    startOrders: AnyTaskKind;
  }>([page, "orders"]);
  const ran: string[] = [];
  const kinds = [importOrders, startOrders, notingKind("load", ran), notingKind("report", ran)];
  const bench = openWorkerBench(kinds, { store: scene.store });
  await bench.client.enqueue(importOrders, { file: "day.csv", parts: 2 });
  for (const name of ["import-orders", "report", "load"]) await bench.work(name);
  expect(ran).toEqual([]);
  for (const name of ["start-orders", "report", "load"]) await bench.work(name);
  expect(ran).toEqual(["load day.csv 1", "load day.csv 2"]);
  await bench.work("report");
  expect(ran).toEqual(["load day.csv 1", "load day.csv 2", "report day.csv"]);
});

test("addWords reads the rows that countWords wrote for its wave, and no others", async () => {
  const { countWords, addWords } = await loadBlock<{
    countWords: TaskKind<{ text: string; totals: string }>;
    addWords: TaskKind<{ totals: string }, { words: number }>;
  }>([page, "word-count"]);
  await scene.query("insert into word_part values (999, 999, 100)");
  const { client, work } = openWorkerBench([countWords, addWords], { store: scene.store });
  const batch = await client.batches.create({ name: "words", waves: 2 });
  const totals = batch.wave(2);
  const texts = ["one two three", "four five"].map((text) => ({ text, totals }));
  await client.enqueueMany(countWords, texts, { wave: batch.wave(1) });
  const { taskId } = await client.enqueue(addWords, { totals }, { wave: totals });
  await client.batches.start(batch.batchId);
  await work("count-words");
  await work("add-words");
  expect(await client.waitFor(addWords, taskId)).toMatchObject({ result: { words: 5 } });
});

test("approve and expire lead to one finish: the first of them adds it", async () => {
  const { finish, expire, approve } = await loadBlock<{
    finish: TaskKind<{ order: string; answer: string }>;
    expire: TaskKind<{ order: string }>;
    approve: (client: TaskClient, order: string) => Promise<boolean>;
  }>([page, "approval"]);
  const { client, work } = openWorkerBench([finish, expire], { store: scene.store });
  const passThreeDays = async (taskId: string): Promise<void> => {
    expect(await client.tasks.read(taskId)).toMatchObject({ state: "scheduled" });
    await client.tasks.reschedule(taskId, { runInMs: 0 });
    await work("expire");
  };
  const answered = await client.enqueue(expire, { order: "7" });
  const late = await client.enqueue(expire, { order: "8" });
  expect(await approve(client, "7")).toBe(true);
  await work("finish");
  expect(await approve(client, "7")).toBe(false);
  await passThreeDays(answered.taskId);
  await passThreeDays(late.taskId);
  expect(await approve(client, "8")).toBe(false);
  await work("finish");
  const { tasks } = await scene.store.listTasks({ name: "finish", state: "done", max: 10 });
  const ends = await Promise.all(tasks.map(({ task }) => factsOf(scene.store, task)));
  expect(ends.map(({ payload }) => payload).sort()).toEqual([
    '{"order":"7","answer":"approved"}',
    '{"order":"8","answer":"no answer in three days"}',
  ]);
});

testBlocksRan([
  [page, "nightly"],
  [page, "orders"],
  [page, "word-count"],
  [page, "approval"],
]);
