import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  only,
  operationId,
  startWorker,
  uniqueName,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { filled, makeBatch, start } from "./batch-builders";
import { damagedText } from "./planted-token-faults";
import { dayMs, isPurgeable } from "./purge-scene";
import { minuteMs, minutesAfter, schedule, setAll } from "./schedule-builders";
import { inDialect } from "./two-dialects";

/** What the sweep tells where there is more than one, and at the very instant. */
export function describeSweep(setup: StoreSetup): void {
  describe("sweep, of several", () => {
    describeSeveral(setup);
  });
  describe("sweep at the very instant", () => {
    describeInstants(setup);
  });
  describe("sweep of a definition whose shared limit others have taken up", () => {
    describeCrowded(setup);
  });
  describe("sweep tells what may be purged", () => {
    describePurgeable(setup);
  });
}

function describeSeveral(setup: StoreSetup): void {
  const open = useStore(setup);

  test("batches to be pumped come by id, and no more than asked for", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = [];
    for (let count = 0; count < 2; count += 1) {
      const batch = await filled(store, name, { counts: [1, 1], failurePolicy: "cancel" });
      await start(store, batch);
      ids.push(batch.batchId);
    }
    const worker = await startWorker(store, name, { want: 1 });
    await worker.fail([await worker.claimOne()], { as: "dead" });
    await worker.fail([await worker.claimOne()], { as: "dead" });
    expect((await store.sweep({ max: 10 })).opening).toEqual(ids);
    expect((await store.sweep({ max: 1 })).opening).toEqual(ids.slice(0, 1));
  });

  testWith(setup, "raw sql")(
    "a running batch of which no wave is open is to be pumped",
    async () => {
      const opened = open();
      const { store } = opened;
      const { batchId } = await makeBatch(store, 1);
      expect((await store.sweep({ max: 10 })).opening).toEqual([]);
      const sql = "UPDATE taskgate.batch SET state = 1, started_at = created_at";
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      await opened.raw(inDialect(dialect, sql, new Map()));
      expect((await store.sweep({ max: 10 })).opening).toEqual([batchId]);
    },
  );

  testWith(setup, "exact clock")("due schedules come by instant, then by age", async () => {
    const opened = open();
    const { store } = opened;
    const now = await opened.now();
    for (const [key, minutes] of [
      ["late", 2],
      ["first", 1],
      ["second", 1],
    ] as const) {
      await define(store, {}, key);
      await setAll(store, key, [schedule({ name: key, nextRunAt: minutesAfter(now, minutes) })]);
    }
    await opened.advance(2 * minuteMs);
    const names = async (max: number) =>
      (await store.sweep({ max })).schedules.map((one) => one.name);
    expect(await names(10)).toEqual(["first", "second", "late"]);
    expect(await names(1)).toEqual(["first"]);
    expect(await names(2)).toEqual(["first", "second"]);
  });
}

function describeInstants(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("a token is held up to the end of its lease", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, leaseMs: 10_000 });
    await enqueue(store, name, 1);
    await startWorker(store, name);
    await opened.advance(10_000);
    expect((await store.sweep({ max: 1 })).definitions).toMatchObject([{ free: 1 }]);
    await opened.advance(1);
    expect((await store.sweep({ max: 1 })).definitions).toMatchObject([{ free: 2 }]);
  });
}

function describeCrowded(setup: StoreSetup): void {
  const open = useStore(setup);
  const leaseMs = 10_000;

  /** Two definitions of one shared limit; the second one has a ready task. */
  async function two(store: TaskStore, limit: number) {
    const shared = uniqueName("shared");
    const settings = { limit: 4, leaseMs, sharedLimits: [{ name: shared, limit }] };
    const names = { rich: await define(store, settings), crowded: await define(store, settings) };
    await enqueue(store, names.crowded, 1);
    return { shared, ...names };
  }

  async function toldOf(store: TaskStore, name: string) {
    const { definitions } = await store.sweep({ max: 10 });
    const { free, crowdedOut } = only(definitions.filter((one) => one.name === name));
    return { free, crowdedOut };
  }

  test("a definition is crowded out while its own executions have given all their tokens back", async () => {
    const { store } = open();
    const { rich, crowded } = await two(store, 2);
    const idle = await startWorker(store, crowded);
    await store.releaseTokens({ executionId: idle.executionId, keep: 0 });
    await startWorker(store, rich, { want: 2 });
    expect(await toldOf(store, crowded)).toEqual({ free: 0, crowdedOut: true });
  });

  testWith(setup, "exact clock")(
    "a definition is not crowded out at the very end of its own lease",
    async () => {
      const opened = open();
      const { store } = opened;
      const { rich, crowded } = await two(store, 2);
      await startWorker(store, rich);
      await startWorker(store, crowded);
      await opened.advance(leaseMs);
      expect(await toldOf(store, crowded)).toEqual({ free: 0, crowdedOut: false });
    },
  );

  testWith(setup, "exact clock")(
    "a definition is crowded out when the lease of its own execution is over",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, rich, crowded } = await two(store, 2);
      await startWorker(store, crowded);
      await opened.advance(5_000);
      await startWorker(store, rich);
      const change = { name: shared, operationId: operationId(), changedBy: "me" };
      await store.setSharedLimit({ ...change, limit: 1 });
      expect(await toldOf(store, crowded)).toEqual({ free: 0, crowdedOut: false });
      await opened.advance(5_001);
      expect(await toldOf(store, crowded)).toEqual({ free: 0, crowdedOut: true });
    },
  );

  testWith(setup, "raw sql")(
    "a definition is crowded out when its own execution was declared dead, whatever the row says of its lease",
    async () => {
      const opened = open();
      const { store } = opened;
      const { rich, crowded } = await two(store, 2);
      const dead = await startWorker(store, crowded);
      await startWorker(store, rich);
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      const sql = "UPDATE taskgate.task_execution SET state = 3 WHERE task_execution_id = {id}";
      await opened.raw(inDialect(dialect, sql, new Map([["id", dead.number]])));
      await startWorker(store, rich);
      expect(await toldOf(store, crowded)).toEqual({ free: 0, crowdedOut: true });
    },
  );

  testWith(setup, "token text")(
    "a definition is not crowded out while its own token text is damaged: no token would be given",
    async () => {
      const opened = open();
      const { store } = opened;
      const { rich, crowded } = await two(store, 2);
      await startWorker(store, rich, { want: 2 });
      expect(await toldOf(store, crowded)).toEqual({ free: 0, crowdedOut: true });
      await opened.writeTokens(crowded, damagedText("I:bad,S:1,G:0"));
      expect(await toldOf(store, crowded)).toEqual({ free: 0, crowdedOut: false });
      await opened.writeTokens(crowded, "");
    },
  );
}

function describePurgeable(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("an answer after a day, not at its end", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const input = { name, build: 1, operationId: operationId(), tasks: [{ payload: null }] };
    await store.enqueueTasks(input);
    await opened.advance(dayMs);
    expect(await isPurgeable(store)).toBe(false);
    await opened.advance(1);
    expect(await isPurgeable(store)).toBe(true);
  });

  testWith(setup, "exact clock")("sweep tells a key behind its last instant", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(store, name, [{ dedupeKey: "k", dedupeMs: 1_000 }]);
    await opened.advance(1_000);
    expect(await isPurgeable(store)).toBe(false);
    await opened.advance(1);
    expect(await isPurgeable(store)).toBe(true);
  });

  testWith(setup, "exact clock")(
    "sweep tells what may be purged of executions, as far as they are among the ten oldest",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 20, retainDoneMs: dayMs, retainDeadMs: dayMs });
      const workers = [];
      for (let count = 0; count < 11; count += 1) workers.push(await startWorker(store, name));
      await at(workers, 10).finish();
      await opened.advance(10 * dayMs);
      expect(await isPurgeable(store)).toBe(false);
      await at(workers, 9).finish();
      await opened.advance(10 * dayMs);
      expect(await isPurgeable(store)).toBe(true);
    },
  );

  testWith(setup, "exact clock")("no execution before it is reclaimed", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000, retainDoneMs: dayMs });
    await startWorker(store, name);
    await opened.advance(10_001);
    // An asker declares the first one dead.
    await startWorker(store, name);
    await opened.advance(100 * dayMs);
    expect(await isPurgeable(store)).toBe(false);
    await store.reclaimExpired({ max: 10 });
    await opened.advance(100 * dayMs);
    expect(await isPurgeable(store)).toBe(true);
  });

  testWith(setup, "exact clock")(
    "sweep tells what may be purged of batches, as far as they are among the hundred oldest",
    async () => {
      const opened = open();
      const { store } = opened;
      const ids = [];
      for (let count = 0; count < 101; count += 1) ids.push((await makeBatch(store, 1)).batchId);
      await store.cancelBatch({ batchId: at(ids, 100) });
      await opened.advance(dayMs + 1);
      expect(await isPurgeable(store)).toBe(false);
    },
  );

  test("groups, as long as they are being looked through", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, [{ group: "a" }, { group: "b" }]);
    await store.purge({ max: 10 });
    expect(await isPurgeable(store)).toBe(false);
    await store.purge({ max: 1 });
    expect(await isPurgeable(store)).toBe(true);
  });
}
