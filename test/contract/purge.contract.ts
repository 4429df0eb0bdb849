import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  enqueueOne,
  factsOf,
  operationId,
  setLimit,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { dayMs, isPurgeable, nothingPurged } from "./purge-scene";
import { inDialect } from "./two-dialects";

/** Rows whose retention is over are deleted, in slices; nothing else ever is. */
export function describePurge(setup: StoreSetup): void {
  describe("purge of finished tasks", () => {
    describeTasks(setup);
  });
  describe("purge of ended executions", () => {
    describeExecutions(setup);
  });
  describe("purge of answers and keys", () => {
    describeAnswersAndKeys(setup);
  });
  describe("purge's answer", () => {
    describeAnswer(setup);
  });
  describe("a purge of tasks at its edges", () => {
    describeRemains(setup);
  });
  describe("a purge of all else at its edges", () => {
    describeOthers(setup);
  });
}

/** Ends so many tasks, one after the other, and the execution. */
async function endTasks(
  store: TaskStore,
  name: string,
  { count, as }: { count: number; as: "done" | "dead" | "cancelled" },
) {
  const ids = await enqueue(store, name, count);
  const worker = await startWorker(store, name, { want: count });
  const claims = await worker.claim(count);
  if (as === "done") await worker.complete(claims);
  else await worker.fail(claims, { as });
  await store.finishExecution({ executionId: worker.executionId });
  return ids;
}

function describeTasks(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("a task stays for its retention, and not longer", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retainDoneMs: 60_000, retainDeadMs: 5 * dayMs });
    const [id] = await endTasks(store, name, { count: 1, as: "done" });
    if (id === undefined) throw new Error("no task");
    await opened.advance(60_000);
    expect(await isPurgeable(store)).toBe(false);
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    expect(await stateOf(store, id)).toBe("done");
    await opened.advance(1);
    expect(await isPurgeable(store)).toBe(true);
    expect(await store.purge({ max: 10 })).toEqual({
      ...nothingPurged,
      status: "purged",
      purged: 1,
      tasks: 1,
    });
    expect((await store.explainTask({ taskId: id })).status).toBe("unknown");
    expect(await isPurgeable(store)).toBe(false);
  });

  test("a purge removes done and cancelled tasks after one retention, dead ones after the other", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: 1_000, retainDeadMs: dayMs * 3 });
    for (const as of ["done", "dead", "cancelled"] as const)
      await endTasks(store, name, { count: 1, as });
    await opened.advance(2_000);
    expect(await store.purge({ max: 10 })).toMatchObject({ purged: 2, tasks: 2 });
    expect(await statusOf(store, name)).toMatchObject({ done: 0, dead: 1, cancelled: 0 });
    await opened.advance(dayMs * 3);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1 });
    expect(await statusOf(store, name)).toMatchObject({ dead: 0 });
  });

  test("unfinished tasks stay, however old, with their attempts", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: 1_000, retainDeadMs: 1_000 });
    const id = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 0 });
    await opened.advance(400 * dayMs);
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    expect((await factsOf(store, id)).attempts).toHaveLength(1);
  });

  test("a dead letter that was redriven stays; when it ends again its retention begins again", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: dayMs, retainDeadMs: 60_000 });
    const [id] = await endTasks(store, name, { count: 1, as: "dead" });
    if (id === undefined) throw new Error("no task");
    await opened.advance(60_001);
    await store.redriveTasks({ taskIds: [id] });
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "dead" });
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    expect((await factsOf(store, id)).attempts).toHaveLength(2);
    await opened.advance(60_001);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1 });
  });

  testWith(setup, "raw sql")("attempts go with their task, those of others stay", async () => {
    const opened = open();
    const { store } = opened;
    const brief = await define(store, { limit: 5, retainDeadMs: 1_000 });
    const [gone] = await endTasks(store, brief, { count: 1, as: "dead" });
    const long = await define(store, { limit: 5, retainDeadMs: dayMs });
    const [kept] = await endTasks(store, long, { count: 1, as: "dead" });
    await opened.advance(2_000);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1 });
    expect(await attemptsOf(opened, setup)).toEqual([String(kept)]);
    expect(gone).not.toBe(kept);
  });

  testWith(setup, "raw sql")(
    "a task with more than 10,000 attempts loses them call by call, and its payload with the last",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5, retainDoneMs: 1_000, retainDeadMs: 1_000 });
      const [first] = await endTasks(store, name, { count: 1, as: "dead" });
      const payload = '{"a":1}';
      const second = await enqueueOne(store, name, { payload });
      const worker = await startWorker(store, name);
      await worker.complete([await worker.claimOne()]);
      if (first === undefined) throw new Error("no task");
      await plantAttempts(opened, setup, String(second));
      await opened.advance(2_000);
      // One attempt is the first task's own, 10,000 are planted: the first goes, the second keeps one for the next call.
      expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1, more: true });
      expect((await store.explainTask({ taskId: first })).status).toBe("unknown");
      expect(await attemptsOf(opened, setup)).toEqual([String(second)]);
      expect((await factsOf(store, second)).payload).toBe(payload);
      expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1, more: false });
      expect(await attemptsOf(opened, setup)).toEqual([]);
      expect((await store.explainTask({ taskId: second })).status).toBe("unknown");
    },
  );
}

function describeExecutions(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")(
    "an ended execution stays as long as the longest retention",
    async () => {
      const opened = open();
      const { store } = opened;
      await define(store, { retainDoneMs: 3 * dayMs, retainDeadMs: 0 });
      const name = await define(store, { retainDoneMs: 1_000, retainDeadMs: 1_000 });
      await endTasks(store, name, { count: 1, as: "done" });
      await opened.advance(3 * dayMs);
      expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1, executions: 0 });
      expect(await isPurgeable(store)).toBe(false);
      await opened.advance(1);
      expect(await isPurgeable(store)).toBe(true);
      expect(await store.purge({ max: 10 })).toEqual({
        ...nothingPurged,
        status: "purged",
        purged: 1,
        executions: 1,
      });
      expect((await store.listExecutions({ isOpen: false, max: 10 })).executions).toEqual([]);
    },
  );

  testWith(setup, "exact clock")(
    "a purge keeps ended executions for a day at least, however short the retention",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { retainDoneMs: 0, retainDeadMs: 0 });
      await endTasks(store, name, { count: 1, as: "done" });
      await opened.advance(dayMs);
      expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
      await opened.advance(1);
      expect(await store.purge({ max: 10 })).toMatchObject({ executions: 1 });
    },
  );

  test("a purge keeps open executions, and dead ones until they are reclaimed; limits hold before and after", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, retainDoneMs: 0, retainDeadMs: 0 });
    await startWorker(store, name);
    const live = await startWorker(store, name);
    await opened.advance(2 * dayMs);
    await live.beat();
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    await store.reclaimExpired({ max: 10 });
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    await opened.advance(2 * dayMs);
    await live.beat();
    expect(await store.purge({ max: 10 })).toMatchObject({ executions: 1 });
    // The token that it had to its end is granted to the next asker.
    expect((await startWorker(store, name, { want: 2 })).answer.tokens).toBe(1);
    expect(await store.finishExecution({ executionId: live.executionId })).toMatchObject({
      status: "ended",
    });
  });
}

function describeAnswersAndKeys(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("a purge keeps answers for repeats for a day", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const id = operationId();
    const input = {
      name,
      build: 1,
      operationId: id,
      tasks: [{ payload: null }],
    };
    const first = await store.enqueueTasks(input);
    await setLimit(store, name, 3);
    await opened.advance(dayMs);
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    expect((await store.enqueueTasks(input)).taskIds).toEqual(first.taskIds);
    await opened.advance(1);
    expect(await isPurgeable(store)).toBe(true);
    expect(await store.purge({ max: 10 })).toEqual({
      ...nothingPurged,
      status: "purged",
      purged: 2,
      operations: 2,
    });
    expect((await store.enqueueTasks(input)).taskIds).not.toEqual(first.taskIds);
  });

  testWith(setup, "exact clock")("a key goes when its window is over", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retainDoneMs: 400 * dayMs });
    const windowed = { dedupeKey: "windowed", dedupeMs: 5_000 };
    await enqueue(store, name, [windowed, { dedupeKey: "unfinished" }]);
    await opened.advance(5_000);
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
    await opened.advance(1);
    expect(await isPurgeable(store)).toBe(true);
    expect(await store.purge({ max: 10 })).toEqual({
      ...nothingPurged,
      status: "purged",
      purged: 1,
      keys: 1,
    });
    expect(await isPurgeable(store)).toBe(false);
    const again = await store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      tasks: [
        { payload: null, ...windowed },
        { payload: null, dedupeKey: "unfinished" },
      ],
    });
    expect(again.outcomes).toEqual(["enqueued", "duplicate"]);
  });
}

function describeAnswer(setup: StoreSetup): void {
  const open = useStore(setup);

  test("slice by slice, oldest first; more while there is more than a call may take", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: 1_000, retainDeadMs: 1_000 });
    const old = await endTasks(store, name, { count: 2, as: "done" });
    await opened.advance(500);
    const young = await endTasks(store, name, { count: 3, as: "done" });
    await opened.advance(2_000);
    expect(await store.purge({ max: 2 })).toMatchObject({ purged: 2, tasks: 2, more: true });
    for (const taskId of old) expect((await store.explainTask({ taskId })).status).toBe("unknown");
    for (const taskId of young) expect(await stateOf(store, taskId)).toBe("done");
    expect(await store.purge({ max: 4 })).toMatchObject({ tasks: 3, more: false });
    expect(await store.purge({ max: 2 })).toEqual(nothingPurged);
  });

  test("each kind has its own share", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: 1_000, retainDeadMs: 1_000 });
    for (let turn = 0; turn < 2; turn += 1) {
      await endTasks(store, name, { count: 1, as: "done" });
      await setLimit(store, name, 3 + turn);
      await enqueue(store, name, [{ dedupeKey: `k${String(turn)}`, dedupeMs: 1_000 }]);
      await opened.advance(1);
    }
    await opened.advance(2 * dayMs);
    const all = {
      purged: 4,
      tasks: 1,
      executions: 1,
      operations: 1,
      keys: 1,
      groups: 0,
      batches: 0,
      auditEntries: 0,
    };
    expect(await store.purge({ max: 1 })).toEqual({ status: "purged", ...all, more: true });
    expect(await store.purge({ max: 2 })).toEqual({ status: "purged", ...all, more: false });
    expect(await isPurgeable(store)).toBe(false);
  });

  test("a purge doesn't ask to be called again for what isn't due yet", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    await endTasks(store, name, { count: 1, as: "done" });
    await startWorker(store, name);
    await setLimit(store, name, 3);
    await enqueue(store, name, [{ dedupeKey: "k", dedupeMs: 1_000_000 }, { dedupeKey: "l" }]);
    await opened.advance(1_000);
    expect(await store.purge({ max: 1 })).toEqual(nothingPurged);
  });

  test("equal keys of two definitions are two", async () => {
    const opened = open();
    const { store } = opened;
    const [first, second] = [await define(store), await define(store)];
    await enqueue(store, first, [{ dedupeKey: "k", dedupeMs: 1_000 }]);
    await enqueue(store, second, [{ dedupeKey: "k", dedupeMs: 5_000 }]);
    await opened.advance(2_000);
    expect(await store.purge({ max: 2 })).toMatchObject({ purged: 1, keys: 1 });
    const again = await enqueue(store, second, [{ dedupeKey: "k" }]);
    expect((await statusOf(store, second)).ready).toBe(again.length);
  });

  /** Makes one more row of a kind; answers how to ask whether it is still there. */
  type Plant = (store: TaskStore, name: string) => Promise<() => Promise<boolean>>;
  const plants: readonly (readonly [string, Plant])[] = [
    [
      "executions",
      async (store, name) => {
        const { executionId, number } = await startWorker(store, name);
        await store.finishExecution({ executionId });
        return async () => {
          const { executions } = await store.listExecutions({ isOpen: false, max: 10 });
          return executions.some(({ execution }) => execution === number);
        };
      },
    ],
    [
      "operations",
      async (store, name) => {
        const tasks = [{ payload: null }];
        const input = { name, build: 1, operationId: operationId(), tasks };
        const { taskIds } = await store.enqueueTasks(input);
        return async () => (await store.enqueueTasks(input)).taskIds[0] === taskIds[0];
      },
    ],
  ];
  for (const [kind, plant] of plants)
    test(`a purge removes ${kind}, oldest first, and tells of more while they fill a share`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5, retainDoneMs: 0, retainDeadMs: 0 });
      const isThere = [];
      for (let count = 0; count < 4; count += 1) {
        isThere.push(await plant(store, name));
        await opened.advance(1_000);
      }
      await opened.advance(dayMs);
      const [first, second, third, fourth] = isThere;
      expect(await store.purge({ max: 2 })).toMatchObject({ purged: 2, more: true });
      expect([await fourth?.(), await third?.()]).toEqual([true, true]);
      expect(await store.purge({ max: 3 })).toMatchObject({ purged: 2, more: false });
      expect([await second?.(), await first?.()]).toEqual([false, false]);
    });

  test("a purge removes first the key whose window is over for longest, and tells of more while they fill a share", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const keys = [3_000, 1_000, 2_000].map((dedupeMs) => ({
      dedupeKey: String(dedupeMs),
      dedupeMs,
    }));
    await enqueue(store, name, keys);
    await opened.advance(10_000);
    expect(await store.purge({ max: 1 })).toMatchObject({ purged: 1, keys: 1, more: true });
    // A key that is over is taken anew whether its row is there or not; but only a row that is there is purged.
    await enqueue(store, name, [{ dedupeKey: "1000", dedupeMs: 60_000 }]);
    expect(await store.purge({ max: 3 })).toMatchObject({ purged: 2, keys: 2, more: false });
  });

  test("a bad size is refused", async () => {
    const { store } = open();
    for (const max of [0, 1_001, -1]) {
      await expectError(store.purge({ max }), { code: "TASKGATE_ARG_INVALID", field: "max" });
    }
    expect(await store.purge({ max: 1_000 })).toEqual(nothingPurged);
  });
}

/** The tasks of all attempts, in order. */
async function attemptsOf(opened: TestStore, { dialect }: StoreSetup): Promise<string[]> {
  if (dialect === "memory") return [];
  const sql = "SELECT p.task_id AS id FROM taskgate.attempt AS p ORDER BY p.task_id";
  const rows = await opened.raw(inDialect(dialect, sql, new Map()));
  return rows.map((row) => String(row["id"] ?? row["Id"]));
}

/** 10,000 attempts of earlier executions. */
async function plantAttempts(
  opened: TestStore,
  { dialect }: StoreSetup,
  task: string,
): Promise<void> {
  if (dialect === "memory") return;
  for (let block = 0; block < 10; block += 1) {
    const values = new Map([
      ["task", task],
      ["from", String(1_000_000 + block * 1_000)],
    ]);
    const sql = `INSERT INTO taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome)
      SELECT {task}, {from} + n, 1, {now}, {now}, 14 FROM {numbers}`;
    await opened.raw(inDialect(dialect, sql, values));
  }
}

/** How many rows each of these tables has. */
async function countsOf(
  opened: TestStore,
  { dialect }: StoreSetup,
  tables: readonly string[],
): Promise<number[]> {
  if (dialect === "memory") return [];
  const counts: number[] = [];
  for (const table of tables) {
    const sql = `SELECT COUNT(*) AS rows_left FROM taskgate.${table} AS x`;
    const [row] = await opened.raw(inDialect(dialect, sql, new Map()));
    counts.push(Number(Object.values(row ?? {})[0]));
  }
  return counts;
}

function describeRemains(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "raw sql")("a purge leaves nothing of tasks that ended in any way", async () => {
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
    expect(await store.purge({ max: 10 })).toMatchObject({ purged: 3, tasks: 3, more: false });
    expect(await countsOf(opened, setup, tables)).toEqual([1, 0, 1, 0]);
    expect(await stateOf(store, other)).toBe("cancelled");
    await opened.advance(dayMs);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1 });
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
    expect(await store.purge({ max: 10 })).toMatchObject({ purged: 1, executions: 1 });
    expect(await stateOf(store, id)).toBe("claimed");
    await store.reclaimExpired({ max: 10 });
    expect(await stateOf(store, id)).not.toBe("claimed");
    expect(await store.purge({ max: 10 })).toMatchObject({ purged: 1, executions: 1 });
    expect(await store.purge({ max: 10 })).toEqual(nothingPurged);
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
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 1, more: false });
    expect(await left()).toEqual(["a, again", "c", "c, again", "e", "e, again"]);
    await opened.advance(dayMs);
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 2, more: true });
    expect(await left()).toEqual(["c, again", "e", "e, again"]);
    expect(await store.purge({ max: 3 })).toMatchObject({ auditEntries: 2, more: false });
    expect(await left()).toEqual(["e, again"]);
  });

  testWith(setup, "exact clock")("a purge's share isn't filled by what isn't due", async () => {
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
    expect(await store.purge({ max: 1 })).toEqual(nothingPurged);
    await opened.advance(1);
    expect(await store.purge({ max: 1 })).toMatchObject({ purged: 4, tasks: 1, more: true });
  });

  test("each purge takes its share of rows that are equally old", async () => {
    const opened = open();
    const { store } = opened;
    const names = [await define(store), await define(store)];
    for (const name of names) {
      await setLimit(store, name, 1);
      await enqueue(store, name, [{ dedupeKey: "k", dedupeMs: 1_000 }]);
    }
    await opened.advance(2 * dayMs);
    const share = { purged: 2, operations: 1, keys: 1, more: true };
    expect(await store.purge({ max: 1 })).toMatchObject(share);
    expect(await store.purge({ max: 1 })).toMatchObject(share);
    expect(await store.purge({ max: 1 })).toEqual(nothingPurged);
  });

  testWith(setup, "raw sql")("a purge leaves nothing of a batch", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const tables = ["batch", "wave", "wave_shard", "open_wave"];
    await finishEach(store, name);
    await finishEach(store, name);
    expect(await countsOf(opened, setup, tables)).toEqual([2, 2, 2, 0]);
    await opened.advance(31 * dayMs);
    expect(await store.purge({ max: 1 })).toMatchObject({ batches: 1, more: true });
    expect(await countsOf(opened, setup, tables)).toEqual([1, 1, 1, 0]);
    expect(await store.purge({ max: 10 })).toMatchObject({ batches: 1, more: false });
    expect(await countsOf(opened, setup, tables)).toEqual([0, 0, 0, 0]);
  });

  testWith(setup, "raw sql")(
    "a purge looks at the thousand oldest executions, batches and audit entries",
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
      expect(await store.purge({ max: 10 })).toMatchObject(first);
      const none = { status: "none", executions: 0, batches: 0, auditEntries: 0, more: false };
      expect(await store.purge({ max: 10 })).toMatchObject(none);
      for (const table of ["task_execution", "batch", "setting_audit"])
        await plant(opened, setup, removal(table));
      const rest = { executions: 1, batches: 1, auditEntries: 1 };
      expect(await store.purge({ max: 10 })).toMatchObject(rest);
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

/** A thousand of each that no purge may delete: without an end, or each the last of its definition. */
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
  if (dialect !== "memory") await opened.raw(inDialect(dialect, sql, new Map()));
}
