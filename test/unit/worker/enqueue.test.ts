import { describe, expect, test } from "@jest/globals";
import { createAdmin } from "../../../shared/admin/create-admin";
import type { JsonObject } from "../../../shared/core/json";
import type { EnqueueTasksInput, TaskStore } from "../../../shared/ports/task-store";
import { completeTasks } from "../../../shared/worker/client/complete-tasks";
import { InvalidArgumentError } from "../../../shared/core/errors";
import { defineQueue } from "../../../shared/worker/define/define-queue";
import { defineTask } from "../../../shared/worker/define/define-task";
import { register } from "../../../shared/worker/client/register";
import { createRegistry } from "../../../shared/worker/define/registry";
import type { StandardSchema } from "../../../shared/worker/define/standard-schema";
import type { TaskContext } from "../../../shared/worker/define/task-context";
import { expectError } from "../../support/expect-error";
import { openWorkerBench } from "./worker-bench";
import type { TaskKind } from "../../../shared/worker/define/task-kind";
import { taskRef, taskRequest } from "../../../shared/worker/define/task-ref";

interface Person {
  name: string;
}

const personSchema: StandardSchema<Person> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof (value as Person | null)?.name === "string"
        ? { value: value as Person }
        : { issues: [{ message: "expected a text", path: ["name"] }] },
  },
};

const idle = () => Promise.resolve();
const greet = defineTask<Person>({ name: "greet", group: { by: "name" }, run: idle });
const hello = defineTask<Person>({
  name: "hello",
  groupKey: ({ name }) => (name === "" ? null : name),
  run: idle,
});

async function groupsOf(store: TaskStore, name: string): Promise<string[]> {
  const { groups } = await store.listGroups({ name, max: 100 });
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
          for (let i = 0; i < count; i += 1) await context.enqueue(child, { i });
        };
        await run(context, add);
      },
    });
    const note = (input: EnqueueTasksInput): void => {
      if (input.name === "child") calls.push(input.tasks.length);
    };
    const bench = openWorkerBench([parent, child], { wrap: (store) => noting(store, note) });
    await bench.client.enqueue(parent, {});
    await bench.work("parent", { maxMs: 60_000 });
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
    await client.enqueue(greet, { name: "Ada" });
    await client.enqueue(taskRef({ name: "greet" }), { name: "Bob" });
    await client.enqueue(taskRef({ name: "hello" }), { name: "Ada" });
    expect(await groupsOf(store, "greet")).toEqual(["Ada", "Bob"]);
    expect(await groupsOf(store, "hello")).toEqual(["Ada"]);
  });

  test("client.enqueue with another key than the payload's is refused at the call", async () => {
    const { client } = openWorkerBench([greet]);
    const call = client.enqueue(greet, { name: "Ada" }, { group: "Bob" });
    await expectError(call, { code: "TASKGATE_ARG_RULE", field: "group", value: "Bob" });
    const bad = client.enqueue(greet, { name: true as unknown as string });
    await expectError(bad, { code: "TASKGATE_ARG_INVALID", field: "payload.name", value: "true" });
  });

  test("client.enqueue of a function's kind may say another key, or null for none", async () => {
    const { client, store } = openWorkerBench([hello]);
    await client.enqueueAll([
      taskRequest(hello, { name: "Ada" }, { group: "other" }),
      taskRequest(hello, { name: "Ada" }, { group: null }),
      taskRequest(hello, { name: "" }),
      taskRequest(taskRef({ name: "hello" })),
    ]);
    expect(await groupsOf(store, "hello")).toEqual(["other"]);
  });

  test("ctx.enqueue by a kind's name takes the group that the code computes", async () => {
    const parent = defineTask({
      name: "parent",
      run: (_: JsonObject, context) => context.enqueue(taskRef({ name: "hello" }), { name: "Ada" }),
    });
    const { client, store, work } = openWorkerBench([parent, hello]);
    await client.enqueue(parent, {});
    await work("parent");
    await store.promoteScheduled({ name: "hello", max: 10 });
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
    await client.enqueue(greet, { name: "Ada" });
    expect(await groupsOf(store, "greet")).toEqual(["Ada"]);
  });

  test("callers without the code get the group by its path, and are told where it is a function", async () => {
    const { environment, client, store } = openWorkerBench([greet, hello]);
    await client.enqueue(greet, { name: "Ada" });
    const admin = createAdmin(environment);
    const tasks = [{ payload: '{"name":"Bob"}' }];
    await admin.enqueue({ definition: "greet", tasks, changedBy: "cli:ada" });
    expect(await groupsOf(store, "greet")).toEqual(["Ada", "Bob"]);
    await expectError(admin.enqueue({ definition: "hello", tasks, changedBy: "cli:ada" }), {
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
    await admin.enqueue({ definition: "hello", tasks, changedBy: "cli:ada" });
    expect(await groupsOf(store, "hello")).toEqual(["Ada"]);
  });

  test("admin.enqueue refuses a payload that the kind's schema refuses", async () => {
    const strict = defineTask({ name: "strict", input: personSchema, run: idle });
    const { admin, store } = await openAdmin([strict]);
    const tasks = [{ payload: '{"name":"Ada"}' }, { payload: '{"name":7}' }];
    await expectError(admin.enqueue({ definition: "strict", tasks, changedBy: "cli:ada" }), {
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
    const first = await client.enqueue(order, payload);
    const again = await client.enqueue(order, payload);
    expect(again).toMatchObject({ taskId: first.taskId, outcome: "duplicate" });
    const { tasks } = await store.listTasks({ name: "order", state: "scheduled", max: 10 });
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

describe("options of a dedupe key", () => {
  const plain = defineTask({ name: "plain", run: idle });
  const keyed = defineTask<{ id?: string }>({ name: "keyed", dedupe: { by: "id" }, run: idle });

  test.each([{ dedupeMs: 60_000 }, { onDuplicate: "replace" } as const])(
    "%j without a key is refused, unless the kind takes one from the payload",
    async (options) => {
      const { client, store } = openWorkerBench([plain, keyed]);
      const [field = "", value] = Object.entries(options)[0] ?? [];
      const message = `${field}: expected it only together with dedupeKey (${String(value)})`;
      await expect(client.enqueue(plain, {}, options)).rejects.toThrow(message);
      await expect(client.enqueueMany(plain, [{}], options)).rejects.toThrow(message);
      expect((await store.listDefinitions({})).definitions).toEqual([]);
      await client.enqueue(plain, {}, { ...options, dedupeKey: "k" });
      await client.enqueue(keyed, { id: "k" }, options);
    },
  );
});

describe("options of the call itself", () => {
  test("client.enqueue and ctx.enqueue name the near option, also one of the call's own", async () => {
    const seen: unknown[] = [];
    const plain = defineTask({
      name: "plain",
      run: async (_, ctx) => {
        await ctx
          .enqueue(plain, {}, { nwo: true } as object)
          .catch((error: unknown) => seen.push(error));
      },
    });
    const { client, work } = openWorkerBench([plain]);
    const given = { transction: null } as object;
    await expect(client.enqueue(plain, {}, given)).rejects.toThrow(
      /^transction: unknown option of enqueue\. Did you mean `transaction`\? Known are .*, wave, transaction$/,
    );
    await client.enqueue(plain);
    await work("plain");
    expect(String(seen[0])).toContain("nwo: unknown option of enqueue. Did you mean `now`?");
  });
});

describe("options of an enqueue of several tasks", () => {
  const free = defineTask({ name: "free", run: idle });
  test("client.enqueueMany refuses one key for all tasks, and an option that nothing has", async () => {
    const { client, store } = openWorkerBench([free]);
    const many = (options: object) => client.enqueueMany(free, [{ a: 1 }, { a: 2 }], options);
    await expect(many({ dedupeKey: "k" })).rejects.toThrow(
      /^dedupeKey: expected none for enqueueMany, .*\(the text "k"\)$/,
    );
    await expect(many({ priorty: 4 })).rejects.toThrow(
      "priorty: unknown option of enqueueMany. Did you mean `priority`?",
    );
    expect((await store.listDefinitions({})).definitions).toEqual([]);
    expect(await many({ priority: 4 })).toHaveLength(2);
  });

  test("client.enqueueAll refuses options of a single task", async () => {
    const { client } = openWorkerBench([free]);
    const call = client.enqueueAll([taskRequest(free, {})], { priority: 4 } as object);
    await expect(call).rejects.toThrow(
      "priority: unknown option of enqueueAll. Known are transaction",
    );
  });
});

describe("values of the wrong form, from callers without a compiler", () => {
  const free = defineTask({ name: "free", run: idle });

  test.each([
    [[{ kind: "free", payload: {} }], "requests[0]: expected what taskRequest returns (an object)"],
    [[taskRequest(free, {}), null], "requests[1]: expected what taskRequest returns (null)"],
    [[{ task: "free" }], "requests[0]: expected what taskRequest returns (an object)"],
    ["free", 'requests: expected a list of what taskRequest returns (the text "free")'],
  ])("enqueueAll refuses the list %#, and adds none", async (requests, says) => {
    const { client, store } = openWorkerBench([free]);
    const refusal = { code: "TASKGATE_ARG_INVALID", message: says };
    await expect(client.enqueueAll(requests as never)).rejects.toMatchObject(refusal);
    expect((await store.listDefinitions({})).definitions).toEqual([]);
  });

  test("an enqueue for an unregistered definition says which program registers it", async () => {
    const { client } = openWorkerBench([free]);
    await expect(client.enqueue(taskRef({ name: "cmp" }), {})).rejects.toMatchObject({
      code: "TASKGATE_ARG_UNKNOWN",
      message: expect.stringMatching(
        /^name: unknown definition \(cmp\): expected one that is registered; .*`tasks`$/,
      ),
    });
  });

  const declared: readonly [object, string][] = [
    [
      { name: 5 },
      "name: expected 1..200 characters without blanks at either end, U+0000 or half surrogate pairs (5)",
    ],
    [{ retry: 3 }, "retry: expected an object, of attempts, baseMs, capMs (3)"],
    [{ retry: null }, "retry: expected an object, of attempts, baseMs, capMs (null)"],
    [{ rate: "5/min" }, 'rate: expected an object, of count, periodMs, burst (the text "5/min")'],
    [
      { group: "customer" },
      'group: expected an object, of by, slots, strict (the text "customer")',
    ],
    [
      { group: { by: 5 } },
      "group.by: expected the path of a member, a text such as customer.id (5)",
    ],
    [{ groupKey: "x" }, 'groupKey: expected a function (the text "x")'],
    [{ dedupe: "id" }, 'dedupe: expected an object, of by, forMs (the text "id")'],
    [
      { dedupe: {} },
      "dedupe.by: expected the path of a member, a text such as customer.id (undefined)",
    ],
    [
      { within: "partner" },
      'within: expected a list of what defineLimit returns, or of names (the text "partner")',
    ],
    [{ within: [5] }, "within[0]: expected what defineLimit returns, or a name (5)"],
    [{ within: ["a", "b", "a"] }, 'within: expected each limit once (the text "a")'],
    [
      { schedule: "* * * * *" },
      'schedule: expected an object, of name, cron, timeZone, missed, payload (the text "* * * * *")',
    ],
    [{ queue: "mail" }, 'queue: expected what defineQueue returns (the text "mail")'],
    [
      { input: {} },
      "input: expected a schema of a library with Standard Schema, such as zod (an object)",
    ],
    [{ run: undefined }, "run: expected a function (undefined)"],
  ];
  test.each(declared)(
    "defineTask with %j names field, value, form and task",
    (options, message) => {
      const declare = () => defineTask({ ...base, ...options });
      expect(declare).toThrow(InvalidArgumentError);
      expect(declare).toThrow("name" in options ? message : `${message} [task bad]`);
    },
  );

  test("defineQueue names the queue of a wrong setting, and nothing where the name itself is wrong", () => {
    expect(() => defineQueue({ name: "mail", limit: -1 })).toThrow(
      "limit: expected a whole number in 0..1000 (-1) [queue mail]",
    );
    const nameless = new RegExp("half surrogate pairs \\( mail\\)$");
    expect(() => defineQueue({ name: " mail", limit: -1 })).toThrow(nameless);
    expect(() => defineTask({ name: " mail", run: async () => undefined })).toThrow(nameless);
  });

  test("defineTask without options, and taskRef with a queue instead of its name, are refused", () => {
    expect(() => (defineTask as () => unknown)()).toThrow(
      "defineTask: expected an object, of name,",
    );
    const queue = defineQueue({ name: "mail" }) as never;
    expect(() => taskRef({ name: "letter", queue })).toThrow(
      "queue: expected the queue's name, a text (an object)",
    );
  });

  test("client.enqueue with an instant that is a text is refused at the call", async () => {
    const { client } = openWorkerBench([greet]);
    const call = client.enqueue(greet, { name: "Ada" }, { runAt: "2030-01-01" as never });
    await expectError(call, {
      code: "TASKGATE_ARG_INVALID",
      field: "runAt",
      value: 'expected an instant as a Date (the text "2030-01-01")',
    });
  });

  test("an error of client.enqueueMany with an object, and of client.enqueueAll with a request, names the list", async () => {
    const { client } = openWorkerBench([greet]);
    const one = { name: "Ada" } as never;
    await expect(client.enqueueMany(greet, one)).rejects.toThrow(
      "payloads: expected a list of payloads (an object)",
    );
    await expect(client.enqueueAll(taskRequest(greet, one) as never)).rejects.toThrow(
      "requests: expected a list of what taskRequest returns (an object)",
    );
  });
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
