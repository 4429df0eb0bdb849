import { describe, expect, test } from "@jest/globals";
import {
  define,
  enqueue,
  enqueueOne,
  only,
  setLimit,
  startWorker,
  statusOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { inDialect } from "./two-dialects";

/** What list_definitions and sweep count: each definition's own, and no further than they promise. */
export function describeCounts(setup: StoreSetup): void {
  describe("list_definitions counts", () => {
    describeDefinitions(setup);
  });
  describe("sweep counts", () => {
    describeSweep(setup);
  });
}

function describeDefinitions(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each definition's own tasks, by state", async () => {
    const { store } = open();
    const expected: Record<string, number[]> = {};
    for (const [index, name] of ["one", "two", "three"].entries()) {
      // done, dead, cancelled, claimed, waiting, scheduled, ready: other numbers for each definition.
      const counts = [1, 2, 3, 4, 5, 6, 7].map((count) => ((count * (index + 1)) % 8) + index);
      const [
        done = 0,
        dead = 0,
        cancelled = 0,
        claimed = 0,
        waiting = 0,
        scheduled = 0,
        ready = 0,
      ] = counts;
      await define(store, { limit: 100, prefetchMax: 0 }, name);
      const worker = await startWorker(store, name, { want: 100 });
      const ending = done + dead + cancelled;
      await enqueue(store, name, ending + claimed);
      const tasks = await worker.claim(ending + claimed);
      await worker.complete(tasks.slice(0, done));
      const failing = {
        dead: tasks.slice(done, done + dead),
        cancelled: tasks.slice(done + dead, ending),
      };
      for (const as of ["dead", "cancelled"] as const) {
        if (failing[as].length > 0) await worker.fail(failing[as], { as });
      }
      // The holder of the group's slot is ready, too.
      await enqueue(
        store,
        name,
        Array.from({ length: waiting + 1 }, () => ({ group: "g" })),
      );
      await enqueue(
        store,
        name,
        Array.from({ length: scheduled }, () => ({ runInMs: 60_000 })),
      );
      await enqueue(store, name, ready);
      expected[name] = [done, dead, cancelled, claimed, waiting, scheduled, ready + 1, 100, 1];
    }
    const { definitions } = await store.listDefinitions({});
    const seen = definitions.map((row) => {
      const ended = [row.done, row.dead, row.cancelled, row.claimed];
      const open = [row.waiting, row.scheduled, row.ready, row.held, row.executions];
      return [row.name, [...ended, ...open]];
    });
    expect(Object.fromEntries(seen)).toEqual(expected);
    for (const row of definitions) expect(await statusOf(store, row.name)).toEqual(row);
  });

  testWith(setup, "exact clock")(
    "list_definitions counts executions as live to the last instant of their lease, and not the dead",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: null, leaseMs: 10_000 });
      await startWorker(store, name);
      const executions = async (): Promise<number> => (await statusOf(store, name)).executions;
      expect(await executions()).toBe(1);
      await opened.advance(10_000);
      expect(await executions()).toBe(1);
      await opened.advance(1);
      expect(await executions()).toBe(0);
      expect((await statusOf(store, name)).held).toBe(1);
    },
  );

  testWith(
    setup,
    "raw sql",
    "exact clock",
  )(
    "list_definitions doesn't count an execution as live that was declared dead before its lease is over",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueueOne(store, name);
      const worker = await startWorker(store, name);
      const ended = await startWorker(store, name);
      await ended.finish();
      opened.expectDamage();
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      const sql = "UPDATE taskgate.task_execution SET state = 3 WHERE task_execution_id = {id}";
      await opened.raw(inDialect(dialect, sql, new Map([["id", worker.number]])));
      expect(await statusOf(store, name)).toMatchObject({ executions: 0, held: 1 });
      expect(await store.sweep({ max: 1 })).toMatchObject({
        expired: 1,
        definitions: [{ free: 4 }],
      });
      const { executions } = await store.listExecutions({ isOpen: true, max: 10 });
      expect(only(executions)).toMatchObject({ state: "dead", leaseLeftMs: null });
    },
  );

  testWith(setup, "exact clock")(
    "the nextDueMs of list_definitions is that of the first due task, 0 from then on",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, [{ runInMs: 5_000 }, { runInMs: 2_000 }, { runInMs: 3_000 }]);
      const nextDueMs = async (): Promise<number | null> => (await statusOf(store, name)).nextDueMs;
      expect(await nextDueMs()).toBe(2_000);
      expect((await store.sweep({ max: 1 })).nextDueMs).toBe(2_000);
      await opened.advance(1_999);
      expect(await nextDueMs()).toBe(1);
      await opened.advance(1);
      expect(await nextDueMs()).toBe(0);
      await opened.advance(10_000);
      expect(await nextDueMs()).toBe(0);
      expect((await store.sweep({ max: 1 })).nextDueMs).toBe(0);
    },
  );

  testWith(
    setup,
    "raw sql",
    "sure calls",
  )("list_definitions stops its counts of scheduled and waiting tasks at 10,000", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(store, name, [{ runInMs: 60_000 }, { group: "g" }, { group: "g" }]);
    opened.expectDamage();
    const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
    for (const { table, columns } of multiplied) {
      const [row] = await opened.raw(
        inDialect(dialect, `SELECT task_id FROM taskgate.${table}`, new Map()),
      );
      const [id = ""] = Object.values(row ?? {}).map(String);
      for (let from = 1; from <= 10; from += 1) {
        const sql = `INSERT INTO taskgate.${table} (task_id, ${columns})
          SELECT task_id + {from} * 1000 + n, ${columns} FROM taskgate.${table} CROSS JOIN {numbers} WHERE task_id = {id}`;
        const values = new Map(Object.entries({ from: String(from), id }));
        await opened.raw(inDialect(dialect, sql, values));
      }
    }
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 10_000, waiting: 10_000 });
  });
}

/** Tables whose one row becomes 10,001. */
const multiplied = [
  { table: "scheduled", columns: "task_definition_id, run_at" },
  { table: "group_waiting", columns: "group_id, priority, rank, task_definition_id" },
] as const;

function describeSweep(setup: StoreSetup): void {
  const open = useStore(setup);

  test("sweep counts ready tasks up to 1000, by name and no more than asked for", async () => {
    const { store } = open();
    for (const name of ["c", "a", "d", "b"]) {
      await define(store, {}, name);
      await enqueue(store, name, name === "b" ? 1_001 : 2);
    }
    for (const [max, names] of [
      [1, "a"],
      [2, "ab"],
      [3, "abc"],
      [5, "abcd"],
    ] as const) {
      const { definitions } = await store.sweep({ max });
      expect(definitions.map(({ name }) => name)).toEqual(Array.from(names));
    }
    const { definitions } = await store.sweep({ max: 5 });
    expect(definitions.map(({ ready }) => ready)).toEqual([2, 1_000, 2, 2]);
  });

  testWith(setup, "exact clock")(
    "sweep counts tokens without a live holder as free, of each definition by itself",
    async () => {
      const opened = open();
      const { store } = opened;
      for (const [name, limit] of [
        ["one", 5],
        ["two", 4],
        ["three", 3],
        ["four", 2],
        ["none", null],
      ] as const) {
        await define(store, { limit, leaseMs: name === "three" ? 10_000 : 60_000 }, name);
        await enqueue(store, name, 1);
      }
      const live = await startWorker(store, "one", { want: 3 });
      const ended = await startWorker(store, "one", { want: 1 });
      await ended.finish();
      await store.releaseTokens({ executionId: live.executionId, keep: 2 });
      await startWorker(store, "two", { want: 4 });
      await startWorker(store, "three", { want: 2 });
      await startWorker(store, "four", { want: 2 });
      await startWorker(store, "none", { want: 2 });
      await setLimit(store, "four", 1);
      const free = async (): Promise<Record<string, number>> => {
        const { definitions } = await store.sweep({ max: 10 });
        return Object.fromEntries(definitions.map((row) => [row.name, row.free]));
      };
      await opened.advance(10_000);
      expect(await free()).toEqual({ one: 3, two: 0, three: 1, four: 0, none: 1_000 });
      expect((await store.sweep({ max: 1 })).expired).toBe(0);
      await opened.advance(1);
      expect(await free()).toEqual({ one: 3, two: 0, three: 3, four: 0, none: 1_000 });
      expect((await store.sweep({ max: 1 })).expired).toBe(1);
    },
  );

  testWith(setup, "token text")(
    "sweep counts no free tokens of a damaged text, and the others' as ever",
    async () => {
      const opened = open();
      const { store } = opened;
      for (const name of ["one", "two"]) {
        await define(store, { limit: 3 }, name);
        await enqueueOne(store, name);
      }
      const { number } = await startWorker(store, "one");
      opened.expectDamage();
      const id = "00000000-0000-4000-8000-00000000000a";
      const good = `I:${id},S:0,G:${number}`;
      for (const text of [`I:bad,S:1,G:0`, `I:${id},S:2,G:0`, `I:${id},S:1,G:x`, "text"]) {
        await opened.writeTokens("one", `${text},${good}`);
        const { definitions } = await store.sweep({ max: 10 });
        expect(definitions.map(({ name, free }) => [name, free])).toEqual([
          ["one", 0],
          ["two", 3],
        ]);
      }
      await setLimit(store, "two", null);
      await opened.writeTokens("two", "text");
      const { definitions } = await store.sweep({ max: 10 });
      expect(definitions.map(({ free }) => free)).toEqual([0, 1_000]);
    },
  );

  testWith(
    setup,
    "raw sql",
    "sure calls",
  )("sweep counts expired executions up to 1000", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs: 10_000 });
    await startWorker(store, name);
    await opened.advance(10_001);
    const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
    const sql = `INSERT INTO taskgate.task_execution (operation_id, task_definition_id, state, started_at, lease_until, worker)
      SELECT {uuid}, task_definition_id, 1, {minuteAgo}, {minuteAgo}, 'w' FROM taskgate.task_definition CROSS JOIN {numbers}`;
    expect((await store.sweep({ max: 1 })).expired).toBe(1);
    await opened.raw(inDialect(dialect, sql, new Map()));
    expect((await store.sweep({ max: 1 })).expired).toBe(1_000);
    expect(await statusOf(store, name)).toMatchObject({ executions: 0 });
  });
}
