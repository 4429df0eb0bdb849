import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  enqueueOne,
  operationId,
  setLimit,
  startWorker,
  stateOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { dayMs, nothingPurged } from "./purge-scene";
import { inDialect } from "./two-dialects";

/** What a purge takes first, and what it leaves although it is old. */
export function describePurgeEdges(setup: StoreSetup): void {
  describe("a purge of tasks at its edges", () => {
    describeTasks(setup);
  });
  describe("a purge of all else at its edges", () => {
    describeOthers(setup);
  });
}

/** How many rows each of these tables has. */
async function countsOf(
  opened: TestStore,
  { dialect }: StoreSetup,
  tables: readonly string[],
): Promise<number[]> {
  if (dialect === "model") return [];
  const counts: number[] = [];
  for (const table of tables) {
    const sql = `SELECT COUNT(*) AS rows_left FROM taskgate.${table} AS x`;
    const [row] = await opened.raw(inDialect(dialect, sql, new Map()));
    counts.push(Number(Object.values(row ?? {})[0]));
  }
  return counts;
}

function describeTasks(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "raw sql")("nothing is left of tasks that ended in any way", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: 1, retainDeadMs: 1 });
    const tables = ["archive", "attempt", "ended_early", "task"];
    // Their group isn't made yet: that is kept beside the archive.
    const early = { group: "g", runInMs: 60_000 };
    await store.cancelTasks({ taskIds: await enqueue(store, name, [early]) });
    await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "dead" });
    await enqueueOne(store, name);
    await worker.complete([await worker.claimOne()]);
    await worker.finish();
    const long = await define(store, { limit: 5, retainDoneMs: dayMs });
    const other = await enqueueOne(store, long, early);
    await store.cancelTasks({ taskIds: [other] });
    expect((await countsOf(opened, setup, tables))[2]).toBe(2);
    await opened.advance(1_000);
    expect(await store.purge({ most: 10 })).toMatchObject({ purged: 3, tasks: 3, more: false });
    expect(await countsOf(opened, setup, tables)).toEqual([1, 0, 1, 0]);
    expect(await stateOf(store, other)).toBe("cancelled");
    await opened.advance(dayMs);
    expect(await store.purge({ most: 10 })).toMatchObject({ tasks: 1 });
    expect(await countsOf(opened, setup, tables)).toEqual([0, 0, 0, 0]);
  });

  test("an execution that others declared dead stays until it is reclaimed", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, {
      limit: 1,
      leaseMs: 1_000,
      retainDoneMs: 0,
      retainDeadMs: 0,
    });
    const id = await enqueueOne(store, name);
    const dead = await startWorker(store, name);
    await dead.claimOne();
    await opened.advance(60_000);
    // It takes over the token: from here on the first one can't come back.
    const next = await startWorker(store, name);
    await next.finish();
    await opened.advance(2 * dayMs);
    expect(await store.purge({ most: 10 })).toMatchObject({ purged: 1, executions: 1 });
    expect(await stateOf(store, id)).toBe("claimed");
    await store.reclaimExpired({ most: 10 });
    expect(await stateOf(store, id)).not.toBe("claimed");
    expect(await store.purge({ most: 10 })).toMatchObject({ purged: 1, executions: 1 });
    expect(await store.purge({ most: 10 })).toEqual(nothingPurged);
  });
}

function describeOthers(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(
    setup,
    "audit",
    "exact clock",
  )("entries of the audit go oldest first", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    // All that is said is true or false, and nothing of it is kept for repeats.
    for (const changedBy of ["a", "c", "e"]) {
      await store.pauseDefinition({ name, changedBy });
      await opened.advance(1_000);
      await store.resumeDefinition({ name, changedBy: `${changedBy}, again` });
    }
    const left = async (): Promise<string[]> =>
      (await opened.readAudit(name)).slice(1).map(({ changedBy }) => changedBy);
    await opened.advance(400 * dayMs - 2_000);
    // The second one is as old as may be, the first one older.
    expect(await store.purge({ most: 2 })).toMatchObject({ auditEntries: 1, more: false });
    expect(await left()).toEqual(["a, again", "c", "c, again", "e", "e, again"]);
    await opened.advance(dayMs);
    expect(await store.purge({ most: 2 })).toMatchObject({ auditEntries: 2, more: true });
    expect(await left()).toEqual(["c, again", "e", "e, again"]);
    expect(await store.purge({ most: 3 })).toMatchObject({ auditEntries: 2, more: false });
    expect(await left()).toEqual(["e, again"]);
  });

  testWith(setup, "exact clock")("what isn't due fills no share", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: dayMs, retainDeadMs: 0 });
    const { taskIds } = await store.enqueueTasks({
      name,
      build: 1,
      operationId: operationId(),
      tasks: [{ payload: null, dedupeKey: "k", dedupeMs: dayMs }, { payload: null }],
    });
    await (await startWorker(store, name)).finish();
    await store.cancelTasks({ taskIds });
    await opened.advance(dayMs);
    expect(await store.purge({ most: 1 })).toEqual(nothingPurged);
    await opened.advance(1);
    expect(await store.purge({ most: 1 })).toMatchObject({ purged: 4, tasks: 1, more: true });
  });

  test("of those that are equally old each call takes its share", async () => {
    const opened = open();
    const { store } = opened;
    const names = [await define(store), await define(store)];
    for (const name of names) {
      await setLimit(store, name, 1);
      await enqueue(store, name, [{ dedupeKey: "k", dedupeMs: 1_000 }]);
    }
    await opened.advance(2 * dayMs);
    const share = { purged: 2, operations: 1, keys: 1, more: true };
    expect(await store.purge({ most: 1 })).toMatchObject(share);
    expect(await store.purge({ most: 1 })).toMatchObject(share);
    expect(await store.purge({ most: 1 })).toEqual(nothingPurged);
  });

  testWith(setup, "raw sql")("nothing is left of a batch", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const tables = ["batch", "wave", "wave_shard", "open_wave"];
    await finishEach(store, name);
    await finishEach(store, name);
    expect(await countsOf(opened, setup, tables)).toEqual([2, 2, 2, 0]);
    await opened.advance(31 * dayMs);
    expect(await store.purge({ most: 1 })).toMatchObject({ batches: 1, more: true });
    expect(await countsOf(opened, setup, tables)).toEqual([1, 1, 1, 0]);
    expect(await store.purge({ most: 10 })).toMatchObject({ batches: 1, more: false });
    expect(await countsOf(opened, setup, tables)).toEqual([0, 0, 0, 0]);
  });

  testWith(setup, "raw sql")(
    "of executions, batches and audit entries the thousand oldest are looked at",
    async () => {
      const opened = open();
      const { store } = opened;
      opened.expectDamage();
      const name = await define(store, { retainDoneMs: 0, retainDeadMs: 0 });
      for (const limit of [1, 2]) {
        await finishEach(store, name);
        await setLimit(store, name, limit);
      }
      for (const sql of plants) await plant(opened, setup, sql);
      await finishEach(store, name);
      await setLimit(store, name, 3);
      await opened.advance(500 * dayMs);
      // The entry of limit 2 was followed by one that isn't among the oldest.
      const first = { executions: 2, batches: 2, auditEntries: 1 };
      expect(await store.purge({ most: 10 })).toMatchObject(first);
      const none = { status: "none", executions: 0, batches: 0, auditEntries: 0, more: false };
      expect(await store.purge({ most: 10 })).toMatchObject(none);
      for (const table of ["task_execution", "batch", "setting_audit"])
        await plant(opened, setup, removal(table));
      const rest = { executions: 1, batches: 1, auditEntries: 1 };
      expect(await store.purge({ most: 10 })).toMatchObject(rest);
    },
  );
}

/** An execution and a batch that end at once. */
async function finishEach(store: TaskStore, name: string): Promise<void> {
  await (await startWorker(store, name)).finish();
  const plan = { name: "a batch", failurePolicy: "continue", waves: 1 } as const;
  const { batchId } = await store.createBatch({ ...plan, operationId: operationId() });
  await store.startBatch({ batchId, seal: true });
}

/** A thousand of each that nobody may purge: without an end, or each the last of its definition. */
const plants = [
  `INSERT INTO taskgate.task_execution (operation_id, task_definition_id, state, started_at, lease_until, worker)
   SELECT {uuid}, n, 2, {now}, {now}, 'planted' FROM {numbers}`,
  `INSERT INTO taskgate.batch (operation_id, name, created_at) SELECT {uuid}, 'planted', {now} FROM {numbers}`,
  `INSERT INTO taskgate.setting_audit (task_definition_id, setting, source, changed_by, changed_at)
   SELECT 1000 + n, 'planted', 'code', 'planted', {now} FROM {numbers}`,
];

const marks: Readonly<Record<string, string>> = {
  task_execution: "worker",
  batch: "name",
  setting_audit: "setting",
};

function removal(table: string): string {
  return `DELETE FROM taskgate.${table} WHERE ${String(marks[table])} = 'planted'`;
}

async function plant(opened: TestStore, { dialect }: StoreSetup, sql: string): Promise<void> {
  if (dialect !== "model") await opened.raw(inDialect(dialect, sql, new Map()));
}
