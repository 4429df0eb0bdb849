import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { BatchId } from "../../shared/core/ids";
import { hold, makeBatch, start, waveStates } from "../contract/batch-builders";
import { enqueue, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { evenedOut } from "./evened-out";

// Goal: an operator with a halted batch alone finds whose tasks are dead, and the commands that are told make the batch go on.
let api: ApiSetup;
let batchId: BatchId;

const names = ["fetch-orders", "fetch-prices", "report"] as const;

async function die(name: string, error: string): Promise<void> {
  const worker = await startWorker(api.store, name, { want: 1 });
  await worker.fail(await worker.claim(1), { as: "dead", error });
  await worker.finish();
}

beforeAll(async () => {
  api = await setupApi();
  const { store } = api;
  for (const name of names) await api.register(name, { limit: 5, prefetchMax: 0 });
  await enqueue(store, "report", 1);
  await die("report", "no paper");
  const batch = await makeBatch(store, 2);
  batchId = batch.batchId;
  const [first, second] = batch.waveIds;
  await hold(store, { name: "fetch-orders", waveId: first }, 3);
  await hold(store, { name: "fetch-prices", waveId: first }, 1);
  await hold(store, { name: "report", waveId: second }, 1);
  await start(store, batch);
  await die("fetch-orders", "partner answers 503 for order 17");
  await die("fetch-orders", "partner answers 503 for order 18");
  await die("fetch-prices", "no such price");
  const worker = await startWorker(store, "fetch-orders", { want: 1 });
  await worker.complete(await worker.claim(1));
  await worker.finish();
}, 60_000);
afterAll(() => api.close());

/** By both ways in; they say the same. */
async function taskgate(...words: readonly string[]): Promise<string> {
  const [near, far] = [await api.taskgate(...words), await api.byUrl(...words)];
  expect({ ...far, out: evenedOut(far.out) }).toEqual({ ...near, out: evenedOut(near.out) });
  return near.out;
}

test("the command batch of a halted batch tells the commands that lead on", async () => {
  const out = await taskgate("batch", batchId);
  expect(out).toContain(`\`taskgate failures --batch ${batchId}\` names their definitions`);
  expect(out).toContain(`\`taskgate redrive NAME --all --batch ${batchId}\``);
});

test("the command failures --batch names the definitions of a batch's dead tasks with counts and errors, and no other task", async () => {
  const { groups } = JSON.parse(await taskgate("failures", "--batch", batchId, "--json")) as {
    groups: unknown;
  };
  const expected = [
    { definition: "fetch-orders", count: 2, like: "partner answers 503 for order #" },
    { definition: "fetch-prices", count: 1, like: "no such price" },
  ];
  expect(groups).toMatchObject(expected);
  const { body } = await api.call({ route: "api-failures", query: { batch: batchId } });
  expect(body).toMatchObject({ groups: expected, isWhole: true, more: false });
  const one = await taskgate("failures", "fetch-prices", "--batch", batchId);
  expect(one).toMatch(/no such price/);
  expect(one).not.toMatch(/fetch-orders/);
  expect(await taskgate("failures", "report", "--batch", batchId)).toBe(
    `No task of batch ${batchId} is dead.`,
  );
});

test("the commands redrive --all --batch and batch --resume, as told, open the next wave behind the redriven tasks", async () => {
  const { store } = api;
  for (const name of ["fetch-orders", "fetch-prices"]) {
    const { code } = await api.taskgate("redrive", name, "--all", "--batch", batchId, "--yes");
    expect(code).toBe(0);
  }
  expect((await api.taskgate("batch", batchId, "--resume")).code).toBe(0);
  for (const [name, want] of [
    ["fetch-orders", 2],
    ["fetch-prices", 1],
  ] as const) {
    const worker = await startWorker(store, name, { want });
    await worker.complete(await worker.claim(want));
    await worker.finish();
  }
  await store.pumpBatch({ batchId, max: 100 });
  expect(await waveStates(store, batchId)).toEqual(["done", "open"]);
});
