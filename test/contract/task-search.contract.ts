import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { ListTasksInput, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  idsOf,
  startWorker,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { jsonOfBytes } from "./completion.contract";
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { filled, start } from "./batch-builders";
import { allPages } from "./task-pages";

/** Filters of list_tasks: each alone and together, in unfinished and in finished tasks, bounded by the tasks looked at. */
export function describeTaskSearch(setup: StoreSetup): void {
  describe("filters of list_tasks", () => {
    describeFilters(setup);
  });
  describe("payload filters of list_tasks", () => {
    describePayloads(setup);
  });
  describe("the bound of a search", () => {
    describeBound(setup);
  });
}

const settings = { limit: 20, prefetchMax: 0 };
const states = ["ready", "scheduled", "waiting", "claimed", "done", "dead", "cancelled"] as const;

type Filter = Omit<ListTasksInput, "name" | "state" | "max">;

/** The tasks of all states that a filter leaves, by state in the order of the states above. */
async function search(store: TaskStore, name: string, filter: Filter): Promise<TaskId[]> {
  const found: TaskId[] = [];
  for (const state of states)
    found.push(...(await allPages(store, { name, state, max: 2, ...filter })));
  return found;
}

interface Scene {
  readonly opened: TestStore;
  readonly name: string;
  /** By the state that they are in. */
  readonly tasks: Record<string, TaskId>;
}

/** One task in each state, enqueued and ended a second apart: group, key and payload tell them apart. */
async function sceneOf(opened: TestStore): Promise<Scene> {
  const { store } = opened;
  const name = await define(store, settings, uniqueName());
  const add = async (state: string, more: object = {}): Promise<TaskId> => {
    await opened.advance(1_000);
    return enqueueOne(store, name, {
      dedupeKey: `order-${state}`,
      group: `g-${state}`,
      payload: JSON.stringify({ state, customer: { id: state.length, vip: true } }),
      ...more,
    });
  };
  const tasks: Record<string, TaskId> = {};
  for (const state of ["done", "dead", "cancelled"]) tasks[state] = await add(state);
  const worker = await startWorker(store, name, { want: 10 });
  const claimed = await worker.claim(3);
  await worker.complete(claimed.slice(0, 1));
  await opened.advance(1_000);
  await worker.fail(claimed.slice(1, 2), { as: "dead" });
  await opened.advance(1_000);
  await worker.fail(claimed.slice(2, 3), { as: "cancelled" });
  tasks["claimed"] = await add("claimed");
  expect(idsOf(await worker.claim(1))).toEqual([tasks["claimed"]]);
  tasks["waiting"] = await add("waiting", { group: "g-claimed" });
  tasks["ready"] = await add("ready");
  tasks["scheduled"] = await add("scheduled", { runInMs: 60_000 });
  return { opened, name, tasks };
}

function describeFilters(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the filter by key finds exactly the task that has it, in any state", async () => {
    const { opened, name, tasks } = await sceneOf(open());
    for (const state of states)
      expect(await search(opened.store, name, { key: `order-${state}` })).toEqual([tasks[state]]);
    for (const key of ["order", "order-read", "ORDER-ready", "order-ready0"])
      expect(await search(opened.store, name, { key })).toEqual([]);
  });

  test("the filter by key tells no ready task that had it before as the one that has it now, running or done", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings, uniqueName());
    await enqueueOne(store, name, { dedupeKey: "k", dedupeMs: 1_000, priority: 200 });
    await opened.advance(2_000);
    const holder = await enqueueOne(store, name, { dedupeKey: "k", dedupeMs: 600_000 });
    await enqueueOne(store, name, { dedupeKey: "other", priority: 1 });
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(2);
    expect(idsOf(claimed.slice(1))).toEqual([holder]);
    expect(await search(store, name, { key: "k" })).toEqual([holder]);
    await worker.complete(claimed);
    expect(await search(store, name, { key: "k" })).toEqual([holder]);
  });

  test("the filter by key looks at one ready, scheduled or waiting task, however many stand before it", async () => {
    const { store } = open();
    const name = await define(store, settings);
    await enqueue(store, name, 5);
    await enqueue(store, name, [{ group: "a" }, { group: "a" }, { runInMs: 1_000 }]);
    await enqueueOne(store, name, { group: "g" });
    const rest = { group: "g", dedupeKey: "w" };
    const [ready, scheduled, waiting] = await enqueue(store, name, [
      { dedupeKey: "r" },
      { dedupeKey: "s", runInMs: 60_000 },
      rest,
    ]);
    await enqueue(store, name, 2);
    for (const [state, key, task] of [
      ["ready", "r", ready],
      ["scheduled", "s", scheduled],
      ["waiting", "w", waiting],
    ] as const) {
      const found = await store.listTasks({ name, state, max: 10, key });
      expect(found.tasks.map((row) => row.task)).toEqual([task]);
      expect(found).toMatchObject({ lookedAt: 1, next: null });
    }
    expect(await store.listTasks({ name, state: "ready", max: 10, key: "s" })).toEqual({
      tasks: [],
      lookedAt: 0,
      next: null,
      lastTask: null,
      lastAt: null,
    });
  });

  test("the filter by a key's prefix finds the tasks whose keys begin so, case and all", async () => {
    const { opened, name, tasks } = await sceneOf(open());
    const all = states.map((state) => tasks[state]);
    expect(await search(opened.store, name, { keyPrefix: "order-" })).toEqual(all);
    expect(await search(opened.store, name, { keyPrefix: "order-d" })).toEqual([
      tasks["done"],
      tasks["dead"],
    ]);
    expect(await search(opened.store, name, { keyPrefix: "order-done" })).toEqual([tasks["done"]]);
    for (const keyPrefix of ["Order", "rder", "order-done-"])
      expect(await search(opened.store, name, { keyPrefix })).toEqual([]);
  });

  test("the filter by group finds tasks in it, on their way into it and redrivable into it, and no done ones", async () => {
    const { opened, name, tasks } = await sceneOf(open());
    const { store } = opened;
    for (const state of ["ready", "scheduled", "dead", "cancelled"])
      expect(await search(store, name, { groupKey: `g-${state}` })).toEqual([tasks[state]]);
    const claimed = await search(store, name, { groupKey: "g-claimed" });
    expect(claimed).toEqual([tasks["waiting"], tasks["claimed"]]);
    expect(await search(store, name, { groupKey: "g-done" })).toEqual([]);
    expect(await search(store, name, { groupKey: "g" })).toEqual([]);
  });

  test("the filter by group looks at no waiting tasks of other groups, and takes a group of all definitions as well", async () => {
    const { store } = open();
    const name = await define(store, settings);
    const other = await define(store, settings);
    await enqueue(store, name, [{ group: "a" }, { group: "b" }, { group: "c" }]);
    await enqueue(store, name, [{ group: "a" }, { group: "c" }]);
    const waiting = await enqueue(store, name, [{ group: "b" }, { group: "b" }]);
    const found = await store.listTasks({ name, state: "waiting", max: 10, groupKey: "b" });
    expect(found.tasks.map(({ task }) => task)).toEqual(waiting);
    expect(found).toMatchObject({ lookedAt: 2, next: null });
    await enqueueOne(store, other, { group: "b", groupScope: "global" });
    const shared = await enqueueOne(store, name, { group: "b", groupScope: "global" });
    expect(await allPages(store, { name, state: "waiting", max: 1, groupKey: "b" })).toEqual([
      ...waiting,
      shared,
    ]);
    const none = await store.listTasks({ name, state: "waiting", max: 10, groupKey: "x" });
    expect(none).toEqual({
      tasks: [],
      lookedAt: 0,
      next: null,
      lastTask: null,
      lastAt: null,
    });
  });

  for (const scopes of [
    ["definition", "global"],
    ["global", "definition"],
  ] as const)
    test(`the task that holds a key is found in the group of the later of two with one key, made as ${scopes.join(", ")}`, async () => {
      const { store } = open();
      const name = await define(store);
      const tasks = scopes.map((groupScope) => ({ group: "g", groupScope }));
      await enqueue(store, name, tasks);
      // The other group's task stands behind it.
      const [second] = await enqueue(store, name, [
        { ...at(tasks, 1), dedupeKey: "second" },
        { ...at(tasks, 0), dedupeKey: "first" },
      ]);
      const search = { name, state: "waiting", max: 10, groupKey: "g", key: "second" } as const;
      expect((await store.listTasks(search)).tasks.map(({ task }) => task)).toEqual([second]);
    });

  test("the filter by batch finds the tasks of its waves, unfinished and finished, and no others", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const first = await filled(store, name, { counts: [2, 1] });
    const second = await filled(store, name, { counts: [1] });
    await start(store, first);
    await start(store, second);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name, { want: 10 });
    const claimed = await worker.claim(10);
    await worker.complete(claimed.filter(({ taskId }) => taskId === at(first.tasks, 0)[0]));
    expect(await search(store, name, { batchId: first.batchId })).toEqual([
      at(first.tasks, 0)[1],
      at(first.tasks, 0)[0],
    ]);
    expect(await search(store, name, { batchId: second.batchId })).toEqual(at(second.tasks, 0));
  });

  test("the filter by times goes from an instant on to before another; no unfinished task has ended", async () => {
    const { opened, name, tasks } = await sceneOf(open());
    const { store } = opened;
    const rows = await Promise.all(
      states.map(async (state) => at((await store.listTasks({ name, state, max: 1 })).tasks, 0)),
    );
    const created = Object.fromEntries(
      rows.map(({ task, createdAt }) => [task, new Date(createdAt)]),
    );
    const createdOf = (state: string): Date => created[tasks[state] ?? ""] ?? new Date(0);
    expect(
      await search(store, name, {
        createdSince: createdOf("dead"),
        createdBefore: createdOf("waiting"),
      }),
    ).toEqual([tasks["claimed"], tasks["dead"], tasks["cancelled"]]);
    expect(await search(store, name, { createdSince: createdOf("ready") })).toEqual([
      tasks["ready"],
      tasks["scheduled"],
    ]);
    expect(await search(store, name, { createdBefore: createdOf("dead") })).toEqual([
      tasks["done"],
    ]);
    const ended = (state: string): Date =>
      new Date(rows.find(({ task }) => task === tasks[state])?.endedAt ?? 0);
    expect(await search(store, name, { endedSince: ended("dead") })).toEqual([
      tasks["dead"],
      tasks["cancelled"],
    ]);
    expect(await search(store, name, { endedBefore: ended("dead") })).toEqual([tasks["done"]]);
    const since = { endedSince: ended("done"), endedBefore: ended("cancelled") };
    expect(await search(store, name, since)).toEqual([tasks["done"], tasks["dead"]]);
  });

  test("a task fits all of several filters together", async () => {
    const { opened, name, tasks } = await sceneOf(open());
    const { store } = opened;
    const filter = { keyPrefix: "order-", path: "customer.id", value: "5" };
    expect(await search(store, name, filter)).toEqual([tasks["ready"]]);
    expect(await search(store, name, { ...filter, key: "order-dead" })).toEqual([]);
    expect(await search(store, name, { ...filter, groupKey: "g-ready" })).toEqual([tasks["ready"]]);
  });

  test("a neighbour's task isn't found, even one with the same key and group", async () => {
    const { opened, name } = await sceneOf(open());
    const { store } = opened;
    const other = await define(store, settings);
    for (const filter of [{ keyPrefix: "order" }, { groupKey: "g-ready" }, { key: "order-dead" }])
      expect(await search(store, other, filter)).toEqual([]);
    expect(await search(store, name, { keyPrefix: "order" })).toHaveLength(states.length);
  });

  test.each([
    ["key", { key: " a" }],
    ["keyPrefix", { keyPrefix: "" }],
    ["groupKey", { groupKey: "g ".repeat(101) }],
    ["path", { path: "a..b", value: "1" }],
    ["path", { path: "a-b", value: "1" }],
    ["path", { path: "", value: "1" }],
    ["path", { path: "a.", value: "1" }],
    ["value", { path: "a" }],
    ["value", { value: "a" }],
    ["value", { path: "a", value: "x".repeat(201) }],
    ["createdSince", { createdSince: new Date(Number.NaN) }],
    ["endedBefore", { endedBefore: new Date(Number.NaN) }],
    ["lookMax", { lookMax: 0 }],
    ["lookMax", { lookMax: 5_001 }],
  ])("a filter that can't be read is refused: %s of %j", async (field, filter: Filter) => {
    const { store } = open();
    const name = await define(store, settings);
    await expectError(store.listTasks({ name, state: "ready", max: 1, ...filter }), {
      code: "TASKGATE_ARG_INVALID",
      field,
    });
  });
}

/** Payloads, as their texts are stored, with what stands at `customer.id`. */
const payloads: readonly { readonly text: string; readonly has: string | null }[] = [
  { text: '{"customer":{"id":42}}', has: "42" },
  { text: '{"customer":{"id":"42"}}', has: "42" },
  { text: ' { "customer" : { "other": [1, {"id": 7}], "id" : 42.0 } }', has: "42.0" },
  { text: '{"customer":{"id":1e3}}', has: "1e3" },
  { text: '{"customer":{"id":true}}', has: "true" },
  { text: '{"customer":{"id":false}}', has: "false" },
  { text: '{"customer":{"id":null}}', has: "null" },
  { text: '{"customer":{"id":""}}', has: "" },
  { text: '{"customer":{"id":" a "}}', has: " a " },
  { text: '{"customer":{"id":"\\u00e4\\"\\\\"}}', has: 'ä"\\' },
  { text: '{"customer":{"id":"Ä"}}', has: "Ä" },
  { text: '{"customer":{"id":"\\ud83d\\ude00"}}', has: "😀" },
  { text: '{"customer":{"id":"x\\u0000"}}', has: null },
  { text: '{"customer":{"id":"y\\ud800"}}', has: null },
  { text: '{"customer":{"ID":42}}', has: null },
  { text: '{"customer":{"id":[42]}}', has: null },
  { text: '{"customer":{"id":{"id":42}}}', has: null },
  { text: '{"customer":42}', has: null },
  { text: '{"customer":null}', has: null },
  { text: '[{"customer":{"id":42}}]', has: null },
  { text: '{"id":42,"x":{"customer":{"id":42}}}', has: null },
  { text: '{"customer":{"id":42},"customer":{"id":42}}', has: null },
  { text: '{"customer":{"id":42,"id":42}}', has: null },
  { text: '{"customer":{"id ":42}}', has: null },
  { text: '{"customer":{"id":"42 "}}', has: "42 " },
];

function describePayloads(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the filter by payload finds exactly the tasks with the value at the path, waiting and done ones", async () => {
    const { store } = open();
    const name = await define(store, { ...settings, limit: 100 });
    const ids = await enqueue(
      store,
      name,
      payloads.map(({ text }) => ({ payload: text })),
    );
    await enqueueOne(store, name);
    const expected = (value: string): TaskId[] =>
      ids.filter((_, index) => at(payloads, index).has === value);
    const values = [...new Set(payloads.flatMap(({ has }) => has ?? []))];
    const others = ["4", "420", "True", "x", "y", "ä", "a", '{"id":42}', "[42]"];
    for (const value of [...values, ...others]) {
      const found = await store.listTasks({
        ...{ name, state: "ready", max: 100 },
        ...{ path: "customer.id", value },
      });
      expect([value, found.tasks.map(({ task }) => task)]).toEqual([value, expected(value)]);
    }
    const worker = await startWorker(store, name, { want: 100 });
    await worker.complete(await worker.claim(100));
    for (const value of [...values, ...others]) {
      const found = await store.listTasks({
        ...{ name, state: "done", max: 100 },
        ...{ path: "customer.id", value },
      });
      const newestFirst = expected(value).reverse();
      expect([value, found.tasks.map(({ task }) => task)]).toEqual([value, newestFirst]);
    }
  });

  test("the filter by payload finds a member four steps deep", async () => {
    const { store } = open();
    const name = await define(store, settings);
    const deep = [
      '{"a":{"b":{"c":{"d":7}}}}',
      '{"a":{"b":{"c":{"d":"7"}}}}',
      '{"a":{"b":{"c":{"d":null}}}}',
    ];
    const others = [
      ...[
        '{"a":{"b":{"c":7}}}',
        '{"a":{"b":7}}',
        '{"a":{"b":[{"c":{"d":7}}]}}',
        '{"a":{"b":null}}',
      ],
      ...[
        '{"a":{"b":{"d":7}}}',
        '{"a":{"b":{"c":{"d":7,"d":7}}}}',
        '{"a":{"b":{"c":{"d":{"d":7}}}}}',
      ],
    ];
    const ids = await enqueue(
      store,
      name,
      [...deep, ...others].map((payload) => ({ payload })),
    );
    const page = { name, state: "ready", max: 100, path: "a.b.c.d" } as const;
    const [number, text, nothing] = ids;

    const seven = await store.listTasks({ ...page, value: "7" });
    expect(seven.tasks.map(({ task }) => task)).toEqual([number, text]);
    const none = await store.listTasks({ ...page, value: "null" });
    expect(none.tasks.map(({ task }) => task)).toEqual([nothing]);
  });

  test("the filter by payload finds a member of the first level, and one of another name", async () => {
    const { store } = open();
    const name = await define(store, settings);
    const ids = await enqueue(store, name, [
      { payload: '{"a":1,"b":2}' },
      { payload: '{"a":2,"b":1}' },
    ]);
    for (const [path, value, index] of [
      ["a", "1", 0],
      ["b", "1", 1],
      ["a", "2", 1],
    ] as const) {
      const { tasks } = await store.listTasks({ name, state: "ready", max: 10, path, value });
      expect(tasks.map(({ task }) => task)).toEqual([ids[index]]);
    }
  });
}

function describeBound(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a search looks at so many tasks and no more; the next page goes on behind them, to the end", async () => {
    const { store } = open();
    const name = await define(store, settings);
    const ids = await enqueue(
      store,
      name,
      Array.from({ length: 10 }, (_, index) => ({
        dedupeKey: index % 5 === 3 ? `x${String(index)}` : `y${String(index)}`,
      })),
    );
    const input = { name, state: "ready", keyPrefix: "x", lookMax: 4 } as const;
    const first = await store.listTasks({ ...input, max: 5 });
    expect(first.tasks.map(({ task }) => task)).toEqual([ids[3]]);
    expect(first.lookedAt).toBe(4);
    const second = await store.listTasks({ ...input, max: 5, after: first.next ?? "" });
    expect(second).toMatchObject({ tasks: [], lookedAt: 4 });
    const third = await store.listTasks({ ...input, max: 5, after: second.next ?? "" });
    expect(third.tasks.map(({ task }) => task)).toEqual([ids[8]]);
    expect(third).toMatchObject({ lookedAt: 2, next: null });
  });

  test("no task behind the first 4 MiB of payloads is looked at; the next page goes on behind them", async () => {
    const { store } = open();
    const name = await define(store, { ...settings, limit: 100 });
    const add = async (count: number, payload: string | null): Promise<TaskId[]> =>
      enqueue(
        store,
        name,
        Array.from({ length: count }, () => ({ payload })),
      );
    await add(1, null);
    await add(64, jsonOfBytes(65_536, "\u00e4"));
    const small = await add(2, '{"a":"small"}');
    const pages = async (state: "ready" | "done") => {
      const input = { name, state, max: 5, path: "a", value: "small" } as const;
      const first = await store.listTasks(input);
      const second = await store.listTasks({ ...input, after: first.next ?? "" });
      expect(second.next).toBeNull();
      return [first, second].map(({ lookedAt, tasks }) => [
        lookedAt,
        tasks.map(({ task }) => task),
      ]);
    };
    expect(await pages("ready")).toEqual([
      [65, []],
      [2, small],
    ]);
    const worker = await startWorker(store, name, { want: 100 });
    await worker.complete(await worker.claim(100));
    // The newest first: of the task behind the large ones no payload is read.
    expect(await pages("done")).toEqual([
      [66, small.reverse()],
      [1, []],
    ]);
  });

  test("a page that is full ends at its last task, and the next one begins behind it", async () => {
    const { store } = open();
    const name = await define(store, settings);
    await enqueue(
      store,
      name,
      Array.from({ length: 6 }, (_, index) => ({
        dedupeKey: `${index % 2 === 0 ? "x" : "y"}${String(index)}`,
      })),
    );
    const worker = await startWorker(store, name, { want: 10 });
    await worker.complete(await worker.claim(10));
    const page = await store.listTasks({ name, state: "done", max: 2, keyPrefix: "x" });
    expect(page.tasks).toHaveLength(2);
    expect(page.lookedAt).toBe(4);
    const found = await allPages(store, {
      name,
      state: "done",
      max: 1,
      keyPrefix: "x",
      lookMax: 2,
    });
    expect(found).toHaveLength(3);
  });
}
