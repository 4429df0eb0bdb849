import { describe, expect, test } from "@jest/globals";
import { createAdmin } from "../../../shared/admin/create-admin";
import type { JsonObject } from "../../../shared/core/json";
import type { EnqueueTasksInput, TaskStore } from "../../../shared/ports/task-store";
import { completeTasks } from "../../../shared/worker/complete-tasks";
import { defineTask } from "../../../shared/worker/define-task";
import type { TaskKind } from "../../../shared/worker/define-task";
import { register } from "../../../shared/worker/register";
import { createRegistry } from "../../../shared/worker/registry";
import type { TaskContext } from "../../../shared/worker/task-context";
import { expectError } from "../../support/expect-error";
import { openWorkerBench } from "./worker-bench";

interface Person {
  name: string;
}

const idle = () => Promise.resolve();
const greet = defineTask<Person>({ name: "greet", group: { by: "name" }, run: idle });
const hello = defineTask<Person>({
  name: "hello",
  groupKey: ({ name }) => (name === "" ? null : name),
  run: idle,
});

async function groupsOf(store: TaskStore, name: string): Promise<string[]> {
  const { groups } = await store.listGroups({ name, most: 100 });
  return groups.map(({ key }) => key).sort();
}

describe("more children than one call takes", () => {
  const child = defineTask({ name: "child", run: idle });
  const count = 10_001;

  async function runParent(
    run: (context: TaskContext, add: () => Promise<void>) => Promise<void>,
  ): Promise<{ calls: number[]; ready: number; dead: number }> {
    const calls: number[] = [];
    const parent = defineTask({
      name: "parent",
      run: async (_: JsonObject, context) => {
        const add = async (): Promise<void> => {
          for (let i = 0; i < count; i += 1) await context.enqueue({ task: child, payload: { i } });
        };
        await run(context, add);
      },
    });
    const note = (input: EnqueueTasksInput): void => {
      if (input.name === "child") calls.push(input.tasks.length);
    };
    const bench = openWorkerBench([parent, child], { wrap: (store) => noting(store, note) });
    await bench.client.enqueue({ task: parent, payload: {} });
    await bench.work("parent", { mostMs: 60_000 });
    const { definitions } = await bench.store.listDefinitions({});
    const of = (name: string) => definitions.find((definition) => definition.name === name);
    return { calls, ready: of("child")?.ready ?? 0, dead: of("parent")?.dead ?? 0 };
  }

  test("ctx.enqueue of 10,001 children writes them in two calls, with the completion", async () => {
    const { calls, ready, dead } = await runParent((_, add) => add());
    // A read model counts up to 10,000.
    expect({ calls, ready, dead }).toEqual({ calls: [10_000, 1], ready: 10_000, dead: 0 });
  });

  test("ctx.enqueue of 10,001 children inside completeWith writes them in two calls", async () => {
    const { calls, ready, dead } = await runParent((context, add) => context.completeWith(add));
    expect({ calls, ready, dead }).toEqual({ calls: [10_000, 1], ready: 10_000, dead: 0 });
  });
});

describe("a group of a kind", () => {
  test("client.enqueue takes the group from the payload, of a kind and of a kind's name", async () => {
    const { client, store } = openWorkerBench([greet, hello]);
    await client.enqueue({ task: greet, payload: { name: "Ada" } });
    await client.enqueue({ task: "greet", payload: { name: "Bob" } });
    await client.enqueue({ task: "hello", payload: { name: "Ada" } });
    expect(await groupsOf(store, "greet")).toEqual(["Ada", "Bob"]);
    expect(await groupsOf(store, "hello")).toEqual(["Ada"]);
  });

  test("client.enqueue with another key than the payload's is refused at the call", async () => {
    const { client } = openWorkerBench([greet]);
    const call = client.enqueue({ task: greet, payload: { name: "Ada" }, group: "Bob" });
    await expectError(call, { code: "TASKGATE_ARG_RULE", field: "group", value: "Bob" });
    const bad = client.enqueue({ task: greet, payload: { name: true } });
    await expectError(bad, { code: "TASKGATE_ARG_INVALID", field: "payload.name", value: "true" });
  });

  test("client.enqueue of a function's kind may say another key, or null for none", async () => {
    const { client, store } = openWorkerBench([hello]);
    await client.enqueue([
      { task: hello, payload: { name: "Ada" }, group: "other" },
      { task: hello, payload: { name: "Ada" }, group: null },
      { task: hello, payload: { name: "" } },
      { task: hello },
    ]);
    expect(await groupsOf(store, "hello")).toEqual(["other"]);
  });

  test("ctx.enqueue by a kind's name takes the group that the code computes", async () => {
    const parent = defineTask({
      name: "parent",
      run: (_: JsonObject, context) => context.enqueue({ task: "hello", payload: { name: "Ada" } }),
    });
    const { client, store, work } = openWorkerBench([parent, hello]);
    await client.enqueue({ task: parent, payload: {} });
    await work("parent");
    await store.promoteScheduled({ name: "hello", most: 10 });
    expect(await groupsOf(store, "hello")).toEqual(["Ada"]);
  });

  test("a path that changed without a new build is registered when a call meets the old one", async () => {
    const { environment, store } = openWorkerBench([]);
    const old = defineTask<Person & { id: number }>({
      name: "greet",
      group: { by: "id" },
      run: idle,
    });
    for (const definition of createRegistry([old]).definitions)
      await register(environment, definition);
    const { client } = openWorkerBench([greet], { store });
    await client.enqueue({ task: greet, payload: { name: "Ada" } });
    expect(await groupsOf(store, "greet")).toEqual(["Ada"]);
  });

  test("callers without the code get the group by its path, and are told where it is a function", async () => {
    const { environment, client, store } = openWorkerBench([greet, hello]);
    await client.enqueue({ task: greet, payload: { name: "Ada" } });
    const admin = createAdmin(environment);
    const tasks = [{ payload: '{"name":"Bob"}' }];
    await admin.enqueue({ definition: "greet", tasks });
    expect(await groupsOf(store, "greet")).toEqual(["Ada", "Bob"]);
    await expectError(admin.enqueue({ definition: "hello", tasks }), {
      code: "TASKGATE_ARG_RULE",
      field: "group",
      value: "the code of kind hello computes it",
    });
  });
});

describe("an enqueue by HTTP or the command line, with the app's code", () => {
  async function openAdmin(kinds: readonly TaskKind<Person>[]) {
    const { environment, store } = openWorkerBench(kinds);
    const registry = createRegistry(kinds);
    for (const definition of registry.definitions) await register(environment, definition);
    const admin = createAdmin({
      ...environment,
      completeTasks: (call, tasks) => completeTasks(registry, call, tasks),
    });
    return { admin, store };
  }

  test("admin.enqueue takes the group that the code computes", async () => {
    const { admin, store } = await openAdmin([greet, hello]);
    const tasks = [{ payload: '{"name":"Ada"}' }, { payload: '{"name":""}' }];
    await admin.enqueue({ definition: "hello", tasks });
    expect(await groupsOf(store, "hello")).toEqual(["Ada"]);
  });

  test("admin.enqueue refuses a payload that the kind's schema refuses", async () => {
    const strict = defineTask<Person>({
      name: "strict",
      payload: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: (value) =>
            typeof (value as Person | null)?.name === "string"
              ? { value: value as Person }
              : { issues: [{ message: "expected a text", path: ["name"] }] },
        },
      },
      run: idle,
    });
    const { admin, store } = await openAdmin([strict]);
    const tasks = [{ payload: '{"name":"Ada"}' }, { payload: '{"name":7}' }];
    await expectError(admin.enqueue({ definition: "strict", tasks }), {
      code: "TASKGATE_ARG_INVALID",
      field: "tasks\\[1\\].payload",
      value: "name: expected a text",
    });
    expect((await store.listDefinitions({})).definitions).toMatchObject([{ ready: 0 }]);
  });
});

describe("a kind's priority, delay and dedupe key", () => {
  test("client.enqueue adds them where the call says nothing", async () => {
    const order = defineTask<{ id: number }>({
      name: "order",
      priority: 5,
      runInMs: 60_000,
      dedupe: { by: "id", forMs: 1_000 },
      run: idle,
    });
    const { client, store } = openWorkerBench([order]);
    const payload = { id: 7 };
    const [first] = await client.enqueue({ task: order, payload });
    const [again] = await client.enqueue({ task: order, payload });
    expect(again).toEqual({ taskId: first?.taskId, outcome: "duplicate" });
    const { tasks } = await store.listTasks({ name: "order", state: "scheduled", most: 10 });
    expect(tasks).toMatchObject([{ priority: 5 }]);
  });

  const bad: readonly [string, () => unknown, string][] = [
    [
      "a path and a function",
      () => defineTask<Person>({ ...base, group: { by: "name" }, groupKey: () => null }),
      "groupKey",
    ],
    ["a path with quotes", () => defineTask({ ...base, group: { by: '"a"' } }), "group.by"],
    ["a fraction for a delay", () => defineTask({ ...base, runInMs: 0.5 }), "runInMs"],
    ["a priority out of range", () => defineTask({ ...base, priority: 40_000 }), "priority"],
    [
      "a dedupe key and a schedule",
      () => defineTask({ ...base, dedupe: { by: "a" }, schedule: { cron: "@daily" } }),
      "dedupe",
    ],
    [
      "a schedule's payload without a key",
      () =>
        defineTask({
          ...base,
          group: { by: "a" },
          schedule: { cron: "@daily", payload: { a: true } },
        }),
      "payload.a",
    ],
  ];
  for (const [title, declare, field] of bad) {
    test(`defineTask with ${title} is refused, naming the field`, async () => {
      const call = Promise.resolve().then(declare);
      await expectError(call, { code: "TASKGATE_ARG_INVALID", field });
    });
  }
});

const base = { name: "bad", run: idle };

/** The store, with each enqueue told to the test. */
function noting(store: TaskStore, note: (input: EnqueueTasksInput) => void): TaskStore {
  return new Proxy(store, {
    get(target, member) {
      if (member === "enqueueTasks") {
        return (...given: Parameters<TaskStore["enqueueTasks"]>) => {
          note(given[0]);
          return target.enqueueTasks(...given);
        };
      }
      const value: unknown = Reflect.get(target, member);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
