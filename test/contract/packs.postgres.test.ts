import { beforeEach, describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import type { Worker } from "../support/builders";
import { at, define, done, enqueue, factsOf, startWorker, statusOf } from "../support/builders";
import { definitionId } from "../support/contention";
import { useContention } from "../support/use-contention";
import { within } from "../support/gate";

/*
 * On PostgreSQL, tasks that one call ends well lie in one row together (archive_pack). No reader may see it.
 */
let isDamaged = false;
const scene = useContention(() => isDamaged);
beforeEach(() => {
  isDamaged = false;
});

async function open(limit = 50): Promise<{ store: TaskStore; name: string; worker: Worker }> {
  const store = scene.openStore(2);
  const name = await define(store, { limit, prefetchMax: 0, retainDoneMs: 60_000 });
  return { store, name, worker: await startWorker(store, name, { want: limit }) };
}

/** Tasks that end well, all in one call. */
async function endTogether(
  { store, name, worker }: Awaited<ReturnType<typeof open>>,
  tasks: number | readonly Partial<NewTask>[],
  result: string | null = null,
): Promise<TaskId[]> {
  const ids = await enqueue(store, name, tasks);
  const claimed = await worker.claim(ids.length);
  expect(claimed).toHaveLength(ids.length);
  await worker.work({ done: claimed.map((task) => done(task, { result })) });
  return ids;
}

/** Sizes of the packs, and how many tasks have a row of their own. */
async function stored(): Promise<{ packs: number[]; rows: number }> {
  const { rows } = await scene.client.query<{ size: number }>(
    "select cardinality(task_ids) as size from taskgate.archive_pack order by first_task_id",
  );
  const single = await scene.client.query("select 1 from taskgate.archive");
  return { packs: rows.map(({ size }) => size), rows: single.rowCount ?? 0 };
}

describe("which tasks lie together", () => {
  test("the done tasks of one call lie together, by kind and priority", async () => {
    const field = await open();
    await endTogether(field, [{}, {}, { priority: 7 }, { priority: 7 }, { priority: 7 }, {}]);
    expect(await stored()).toEqual({ packs: [3, 3], rows: 0 });
  });

  test("a task that ends alone or otherwise, has failed before or is large lies by itself", async () => {
    const field = await open();
    const { store, name, worker } = field;
    await endTogether(field, 1);
    await endTogether(field, [{ payload: JSON.stringify(["x".repeat(3_000)]) }, {}, {}]);
    expect(await stored()).toEqual({ packs: [2], rows: 2 });
    await enqueue(store, name, 3);
    const claimed = await worker.claim(3);
    await worker.fail(claimed.slice(0, 1), { retryInMs: 0 });
    await scene.advance(1_000);
    await store.promoteScheduled({ name, max: 10 });
    await worker.complete([...claimed.slice(1), ...(await worker.claim(1))]);
    expect(await stored()).toEqual({ packs: [2, 2], rows: 3 });
    await enqueue(store, name, 2);
    await worker.fail(await worker.claim(2), { as: "dead" });
    expect(await stored()).toEqual({ packs: [2, 2], rows: 5 });
    expect(await statusOf(store, name)).toMatchObject({ done: 7, dead: 2 });
  });

  test("a task with a large result lies by itself; the others of its call lie together", async () => {
    const { store, name, worker } = await open();
    await enqueue(store, name, 3);
    const claimed = await worker.claim(3);
    const results = [null, JSON.stringify(["x".repeat(3_000)]), '{"small":1}'];
    const ends = claimed.map((task, n) => done(task, { result: at(results, n) }));
    await worker.work({ done: ends });
    expect(await stored()).toEqual({ packs: [2], rows: 1 });
    const told = await Promise.all(claimed.map(({ taskId }) => factsOf(store, taskId)));
    expect(told.map(({ result }) => result)).toEqual(results);
  });

  test.each([
    ["first", ["plain", "key", "group", "plain", "large"]],
    ["last", ["group", "large", "key", "plain", "plain"]],
  ])(
    "plain tasks lie together where they come %s in a call with others, and each keeps its own result",
    async (_, kinds) => {
      const tasks: Record<string, Partial<NewTask>> = {
        plain: {},
        key: { dedupeKey: "order-1" },
        group: { group: "customer-1" },
        large: { payload: JSON.stringify(["x".repeat(3_000)]) },
      };
      const { store, name, worker } = await open();
      await enqueue(
        store,
        name,
        kinds.map((kind) => tasks[kind] ?? {}),
      );
      const waits = await enqueue(store, name, [{ group: "customer-1" }]);
      const claimed = await worker.claim(5);
      const ends = claimed.map((task, n) => done(task, { result: `{"n":${String(n)}}` }));
      const { refused } = await worker.work({ done: ends });
      expect(refused).toEqual([]);
      expect(await stored()).toMatchObject({ rows: 1 });
      const told = await Promise.all(claimed.map(({ taskId }) => factsOf(store, taskId)));
      expect(told.map(({ state, result }) => [state, result])).toEqual(
        claimed.map((_task, n) => ["done", `{"n":${String(n)}}`]),
      );
      expect((await worker.claim(1)).map(({ taskId }) => taskId)).toEqual(waits);
      await enqueue(store, name, [{ dedupeKey: "order-1" }]);
      expect(await worker.claim(2)).toHaveLength(1);
    },
  );

  test("a pack spans at most 4096 ids, so that a search for one of them needn't look farther", async () => {
    const field = await open();
    await scene.client.query("select setval('taskgate.task_sequence', 4090, false)");
    const ids = await endTogether(field, 12);
    expect(ids).toEqual(expect.arrayContaining(["4095", "4096"]));
    expect(await stored()).toEqual({ packs: [6, 6], rows: 0 });
    for (const taskId of ids)
      expect(await factsOf(field.store, taskId)).toMatchObject({ state: "done" });
  });
});

describe("a task that lies with others", () => {
  test("a task that lies with others is found at the far end of the widest pack", async () => {
    const { store, name, worker } = await open();
    const ids: TaskId[] = [];
    for (const next of [4_096, 8_191]) {
      await scene.client.query("select setval('taskgate.task_sequence', $1, false)", [next]);
      ids.push(...(await enqueue(store, name, 1)));
    }
    const claimed = await worker.claim(2);
    await worker.complete(claimed);
    expect(await stored()).toEqual({ packs: [2], rows: 0 });
    const last = at(claimed, 1);
    expect(await factsOf(store, last.taskId)).toMatchObject({ task: "8191", state: "done" });
    const again = { ...done(last), executionId: worker.executionId };
    expect(await store.completeTask(again)).toMatchObject({ status: "again" });
    const { results } = await store.cancelTasks({ taskIds: ids });
    expect(results.map(({ state }) => state)).toEqual(["done", "done"]);
  });

  test("a task that lies with others is told as one that lies alone", async () => {
    const field = await open();
    const { store, name } = field;
    const task = { payload: '{"a":1}', priority: 3, dedupeMs: 1_000 };
    const result = '{"b":2}';
    const alone = await endTogether(field, [{ ...task, dedupeKey: "alone" }], result);
    const others = ["x", "y", "z"].map((dedupeKey) => ({ ...task, dedupeKey }));
    const together = await endTogether(field, others, result);
    const told = async (taskId: TaskId): Promise<object> => ({
      ...(await factsOf(store, taskId)),
      ...{ task: "", createdAt: "", endedAt: "", dedupeKey: "" },
    });
    expect(await told(at(together, 1))).toEqual(await told(at(alone, 0)));
    expect(await factsOf(store, at(together, 1))).toMatchObject({ dedupeKey: "y", result });
    const unknown = "999999" as TaskId;
    const ids = [at(alone, 0), at(together, 1), unknown];
    const states = ["done", "done", "unknown"];
    const cancelled = await store.cancelTasks({ taskIds: ids });
    expect(cancelled.results.map(({ state }) => state)).toEqual(states);
    const moved = await store.rescheduleTasks({ taskIds: ids, to: { runInMs: 0 } });
    expect(moved.results.map(({ state }) => state)).toEqual(states);
    const redriven = await store.redriveTasks({ taskIds: ids });
    expect(redriven.results.map(({ outcome }) => outcome)).toEqual(states);
    const log = await scene.client.query(
      "select outcome, payload, worker, duration_ms from taskgate.v_execution_log where definition = $1",
      [name],
    );
    expect(new Set(log.rows.map((row) => JSON.stringify(row))).size).toBe(1);
    expect(log.rowCount).toBe(4);
  });

  test("a task that lies with others can be completed again by the execution that completed it", async () => {
    const { store, name, worker } = await open();
    await enqueue(store, name, 3);
    const claimed = await worker.claim(3);
    await worker.complete(claimed);
    expect((await stored()).packs).toEqual([3]);
    const again = { ...done(at(claimed, 1)), executionId: worker.executionId };
    expect(await store.completeTask(again)).toMatchObject({ status: "again" });
    await enqueue(store, name, 1);
    const { fence } = await worker.claimOne();
    expect(await store.completeTask({ ...again, fence })).toMatchObject({ status: "fenced" });
  });

  test("a task that lies with others is listed with the others, newest first, and no more than asked for", async () => {
    const field = await open();
    const { store, name } = field;
    const order: TaskId[][] = [];
    for (const count of [3, 1, 4, 1, 2]) {
      await scene.advance(1_000);
      order.unshift((await endTogether(field, count)).reverse());
    }
    const list = async (max: number): Promise<TaskId[]> =>
      (await store.listTasks({ name, state: "done", max })).tasks.map(({ task }) => task);
    expect(await list(100)).toEqual(order.flat());
    expect(await list(5)).toEqual(order.flat().slice(0, 5));
    expect((await store.listTasks({ name, state: "dead", max: 5 })).tasks).toEqual([]);
  });

  test.each([
    [
      "that is unfinished, too",
      `insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at)
       select task_id, task_definition_id, kind, priority, created_at from taskgate.archived where task_id = $1`,
      ["a finished task is not unfinished, too", "archive and task"],
    ],
    [
      "that has ended alone, too",
      `insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build, outcome, failed_count, lost_count)
       select task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build, 12, 0, 0
         from taskgate.archived where task_id = $1`,
      ["a finished task has ended once", "2 times"],
    ],
    [
      "whose pack lacks a fence",
      "update taskgate.archive_pack set fences = fences[2:] where first_task_id = $1",
      ["the lists of a pack tell of each of its tasks", "3 tasks"],
    ],
    [
      "that its pack holds twice",
      "update taskgate.archive_pack set task_ids = array[task_ids[1], task_ids[1], task_ids[3]] where first_task_id = $1",
      ["the lists of a pack tell of each of its tasks", "3 tasks"],
    ],
  ])("check_invariants finds a task %s", async (_, sql, [rule, detail]) => {
    const field = await open();
    const [taskId] = await endTogether(field, 3);
    isDamaged = true;
    await scene.client.query(sql, [taskId]);
    const { findings } = await field.store.checkInvariants();
    expect(findings).toContainEqual({ rule, key: taskId, detail });
  });

  test("a task that lies with others has the duration that was told for it, wherever the caller's list begins", async () => {
    const { store, name, worker } = await open();
    await enqueue(store, name, 3);
    const claimed = await worker.claim(3);
    const session = await scene.connect("worker");
    await session.query("select * from taskgate.work($1, $2, $3, $4, '[0:2]={10,20,30}'::int[])", [
      worker.number,
      worker.calls + 1,
      claimed.map(({ taskId }) => taskId),
      claimed.map(({ fence }) => fence),
    ]);
    const told = await Promise.all(claimed.map(({ taskId }) => factsOf(store, taskId)));
    expect(told.map(({ durationMs }) => durationMs)).toEqual([10, 20, 30]);
  });
});

describe("a purge", () => {
  test("a purge takes no more tasks than it may, the oldest first, and cuts a pack to what stays", async () => {
    const field = await open();
    const { store } = field;
    const tasks = Array.from({ length: 5 }, (_, n) => ({ payload: JSON.stringify({ n }) }));
    const first = await endTogether(field, tasks, '{"r":1}');
    await scene.advance(1_000);
    const second = await endTogether(field, 1);
    await scene.advance(1_000);
    const third = await endTogether(field, 3);
    await scene.advance(60_001);
    expect(await store.sweep({ max: 1 })).toMatchObject({ isPurgeable: true });
    expect(await store.purge({ max: 2 })).toMatchObject({ tasks: 2, more: true });
    expect(await stored()).toEqual({ packs: [3, 3], rows: 1 });
    expect(await factsOf(store, at(first, 2))).toMatchObject({
      payload: '{"n":2}',
      result: '{"r":1}',
      durationMs: 5,
    });
    expect(await store.explainTask({ taskId: at(first, 1) })).toMatchObject({ status: "unknown" });
    expect(await store.purge({ max: 5 })).toMatchObject({ tasks: 5, more: true });
    expect(await store.explainTask({ taskId: at(second, 0) })).toMatchObject({ status: "unknown" });
    expect(await factsOf(store, at(third, 1))).toMatchObject({ state: "done", payload: null });
    expect(await store.purge({ max: 5 })).toMatchObject({ tasks: 2, more: false });
    expect(await stored()).toEqual({ packs: [], rows: 0 });
    expect(await store.sweep({ max: 1 })).toMatchObject({ isPurgeable: false });
  });

  test("a purge goes on where all tables are published to other servers", async () => {
    const field = await open();
    await endTogether(field, 3);
    await scene.advance(60_001);
    expect(await field.store.sweep({ max: 1 })).toMatchObject({ isPurgeable: true });
    await scene.client.query("create publication everything for tables in schema taskgate");
    expect(await field.store.purge({ max: 2 })).toMatchObject({ tasks: 2 });
    expect(await field.store.purge({ max: 2 })).toMatchObject({ tasks: 1 });
  });

  test("a purge leaves a locked pack, and tasks that are kept longer", async () => {
    const field = await open();
    const { store } = field;
    await endTogether(field, 2);
    await endTogether(field, 3);
    await scene.advance(60_001);
    await endTogether(field, 4);
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query(
      "select 1 from taskgate.archive_pack order by first_task_id limit 1 for update",
    );
    expect(await within(500, store.purge({ max: 10 }))).toMatchObject({ tasks: 3 });
    await gate.query("rollback");
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 2 });
    expect(await stored()).toEqual({ packs: [4], rows: 0 });
  });

  test("a purge takes the attempts of its tasks; one with too many goes with the last of them", async () => {
    const field = await open();
    const { store } = field;
    const ids = await endTogether(field, 3);
    await scene.client.query(
      `insert into taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome)
       select $1::bigint, n, 1, now(), now(), 14 from generate_series(1, 10001) n union all select $2::bigint, 1, 1, now(), now(), 14`,
      [at(ids, 1), at(ids, 0)],
    );
    await scene.advance(60_001);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 2, more: true });
    expect(await stored()).toEqual({ packs: [1], rows: 0 });
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1 });
    expect((await scene.client.query("select 1 from taskgate.attempt")).rowCount).toBe(0);
  });
});

test("a task that is kept nowhere lies in no pack", async () => {
  const store = scene.openStore(2);
  const name = await define(store, { limit: 10, prefetchMax: 0, retainDoneMs: 0 });
  const worker = await startWorker(store, name, { want: 10 });
  await endTogether({ store, name, worker }, 4);
  expect(await stored()).toEqual({ packs: [], rows: 0 });
});

test("tasks in packs and in rows are counted together, to 10,000", async () => {
  const store = scene.openStore(1);
  const name = await define(store);
  const id = await definitionId(scene.client, name);
  isDamaged = true; // rows are written past the operations
  const addPacks = (first: number, sizes: readonly number[]): Promise<unknown> =>
    scene.client.query(
      `insert into taskgate.archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, build, task_execution_id, finished_at, purge_after,
                                          task_ids, created_ats, fences)
       select s.first, s.first + s.size - 1, $1, 'one', 0, 1, 1, now(), now(), array(select s.first + n from generate_series(0, s.size - 1) n),
              array_fill(now(), array[s.size]), array_fill(1, array[s.size])
         from (select $2::bigint + 4096 * n as first, x.size from unnest($3::int[]) with ordinality x(size, n)) s`,
      [id, first, sizes],
    );
  const addRows = (first: number, count: number): Promise<unknown> =>
    scene.client.query(
      `insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build, outcome, failed_count, lost_count, fence)
       select $2::bigint + n, $1, 'one', 0, 0, now(), now(), now(), 1, 10, 0, 0, 1 from generate_series(1, $3) n`,
      [id, first, count],
    );
  const counted = async (): Promise<number> => (await statusOf(store, name)).done;
  await addPacks(100_000, [4_000, 3_000, 2_000]);
  expect(await counted()).toBe(9_000);
  await addRows(900_000, 999);
  expect(await counted()).toBe(9_999);
  await addRows(910_000, 2);
  expect(await counted()).toBe(10_000);
  await addPacks(200_000, [1_500, 1_500]);
  expect(await counted()).toBe(10_000);
});
