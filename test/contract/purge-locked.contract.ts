import { describe, expect } from "@jest/globals";
import type { PurgeAnswer, TaskStore } from "../../shared/ports/task-store";
import { at, define, enqueue, operationId, startWorker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { dayMs, nothingPurged } from "./purge-scene";
import { inDialect } from "./two-dialects";

/** Rows that another call holds are left to the next purge, and are counted by that one. */
export function describePurgeLocked(setup: StoreSetup): void {
  describe("a purge beside a transaction that holds a row", () => {
    describeKinds(setup);
  });
  describe("a purge of batches beside a transaction that holds a row", () => {
    describeBatches(setup);
  });
}

const missing = ["row locks", "raw sql", "sure calls"] as const;

/** A write that changes nothing, so that others find the row locked; and the rows that are left because of it. */
const kinds: readonly (readonly [held: string, left: keyof PurgeAnswer])[] = [
  ["archive SET kind = kind", "tasks"],
  ["task_execution SET worker = worker", "executions"],
  ["operation SET name = name", "operations"],
  ["dedupe SET task_id = task_id", "keys"],
  ["task_group SET slots = slots", "groups"],
  ["group_round SET ended_at = ended_at", "groups"],
  ["batch SET name = name", "batches"],
  ["setting_audit SET reason = reason", "auditEntries"],
];

/** One of each kind that is old enough. */
async function oldOnes(opened: TestStore): Promise<void> {
  const { store } = opened;
  const name = await define(store, { limit: 5, retainDoneMs: 0, retainDeadMs: 1 });
  const tasks = [{ payload: null, group: "g", dedupeKey: "k", dedupeMs: 1_000 }];
  await store.enqueueTasks({ name, build: 1, operationId: operationId(), tasks });
  const worker = await startWorker(store, name);
  await worker.complete([await worker.claimOne()]);
  await enqueue(store, name, 1);
  await worker.fail([await worker.claimOne()], { as: "dead" });
  await worker.finish();
  await finishedBatch(store, 1);
  await store.pauseDefinition({ name, changedBy: "me" });
  await store.resumeDefinition({ name, changedBy: "me" });
  await opened.advance(500 * dayMs);
}

const all: PurgeAnswer = {
  status: "purged",
  purged: 7,
  tasks: 1,
  executions: 1,
  operations: 1,
  keys: 1,
  groups: 1,
  batches: 1,
  auditEntries: 1,
  more: false,
};

async function finishedBatch(store: TaskStore, waves: number) {
  const input = { operationId: operationId(), name: "a batch", waves } as const;
  const made = { ...input, failurePolicy: "continue" } as const;
  const { batchId, waveIds } = await store.createBatch(made);
  await store.startBatch({ batchId, seal: true });
  return { input: made, batchId, waveIds };
}

/** A purge while another transaction holds the rows that this statement writes. */
async function purgeBeside(
  opened: TestStore,
  { dialect }: StoreSetup,
  held: string,
): Promise<PurgeAnswer> {
  return opened.asOwner(async (transaction) => {
    const sql = `UPDATE taskgate.${held}`;
    await transaction.query(inDialect(dialect === "mssql" ? "mssql" : "postgres", sql, new Map()));
    return opened.store.purge({ max: 10 });
  });
}

function describeKinds(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const [held, left] of kinds)
    testWith(setup, ...missing)(
      `a purge leaves ${left} where it is the ${held.split(" ")[0] ?? ""}`,
      async () => {
        const opened = open();
        await oldOnes(opened);
        expect(await purgeBeside(opened, setup, held)).toEqual({ ...all, purged: 6, [left]: 0 });
        const rest = { ...nothingPurged, status: "purged", purged: 1, [left]: 1 };
        expect(await opened.store.purge({ max: 10 })).toEqual(rest);
        expect((await opened.store.purge({ max: 10 })).status).toBe("none");
      },
    );

  testWith(setup, ...missing)(
    "a purge leaves entries of calls, also those of enqueues",
    async () => {
      const opened = open();
      const { store } = opened;
      const call = { name: await define(store), build: 1, operationId: null, changedBy: "me" };
      const { taskIds } = await store.enqueueTasks({ ...call, tasks: [{ payload: null }] });
      await store.cancelTasks({ taskIds, changedBy: "me" });
      await opened.advance(500 * dayMs);
      const held = "call_audit SET reason = reason";
      expect(await purgeBeside(opened, setup, held)).toMatchObject({ auditEntries: 0 });
      expect(await store.purge({ max: 10 })).toMatchObject({ auditEntries: 2 });
    },
  );
}

function describeBatches(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const held of ["wave SET dead_count = dead_count", "wave_shard SET remaining = remaining"])
    testWith(setup, ...missing)(
      `a batch loses its other waves and answers no repeat (${held.split(" ")[0] ?? ""})`,
      async () => {
        const opened = open();
        const { store } = opened;
        const first = await finishedBatch(store, 2);
        const second = await finishedBatch(store, 1);
        await opened.advance(2 * dayMs);
        const which = `WHERE wave_id = ${at(first.waveIds, 1)}`;
        const answer = await purgeBeside(opened, setup, `${held} ${which}`);
        expect(answer).toEqual({ ...nothingPurged, status: "purged", purged: 1, batches: 1 });
        const { batches } = await store.listBatches({ max: 10 });
        expect(batches.map(({ batch, waves }) => [batch, waves.length])).toEqual([
          [first.batchId, 1],
        ]);
        expect((await store.createBatch(first.input)).batchId).not.toBe(first.batchId);
        expect((await store.createBatch(second.input)).batchId).not.toBe(second.batchId);
        expect(await store.purge({ max: 10 })).toMatchObject({ batches: 1 });
      },
    );

  testWith(setup, ...missing)(
    "a batch of which nothing goes is still found by a repeat",
    async () => {
      const opened = open();
      const { store } = opened;
      const first = await finishedBatch(store, 1);
      await finishedBatch(store, 1);
      await opened.advance(2 * dayMs);
      const which = `WHERE wave_id = ${at(first.waveIds, 0)}`;
      const held = `wave SET dead_count = dead_count ${which}`;
      expect(await purgeBeside(opened, setup, held)).toMatchObject({ batches: 1 });
      expect((await store.createBatch(first.input)).batchId).toBe(first.batchId);
      // Of one that is held alone it is said that nothing went.
      expect(await purgeBeside(opened, setup, held)).toEqual(nothingPurged);
      expect(await store.purge({ max: 10 })).toMatchObject({ batches: 1 });
    },
  );
}
