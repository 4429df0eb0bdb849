import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "../../../shared/core/json";
import { taskgate } from "../../../shared/functions/taskgate";
import { defineTask } from "../../../shared/worker/define/define-task";
import type { HandlerResult, TaskContext } from "../../../shared/worker/define/task-context";
import { factsOf, openWorkerBench } from "./worker-bench";

/* Mistakes of handlers and callers in plain JavaScript that nothing told: data was lost, or work was left undone. */

const as = <Type>(value: unknown): Type => value as Type;

describe("a payload of which JSON keeps nothing is refused:", () => {
  test.each([
    [
      "a promise",
      Promise.resolve({ n: 1 }),
      "an object (Promise), of which JSON keeps nothing; await it first",
    ],
    ["a map", new Map([["n", 1]]), "an object (Map), of which JSON keeps nothing"],
    ["an error", new Error("x"), "an object (Error), of which JSON keeps nothing"],
  ])("a payload that is %s is refused", async (_, payload, got) => {
    const task = defineTask<JsonObject>({ name: "t", run: async () => undefined });
    const { client } = openWorkerBench([task]);
    await expect(client.enqueue(task, as<JsonObject>(payload))).rejects.toThrow(
      `Expected \`payload\` to be JSON, got ${got}`,
    );
  });

  test.each<[string, unknown, string]>([
    ["a member", { n: Promise.resolve(1) }, ".n"],
    ["an entry of a list", { order: { lines: [{}, Promise.resolve(1)] } }, ".order.lines[1]"],
    [
      "a thenable that is no promise",
      [
        {
          query: {
            then: () => undefined,
          },
        },
      ],
      "[0].query",
    ],
  ])(
    "a payload in which %s isn't awaited is refused, with its place",
    async (_, payload, place) => {
      const task = defineTask<JsonObject>({ name: "t", run: async () => undefined });
      const { client } = openWorkerBench([task]);
      const refusal = `Expected \`payload${place}\` to be JSON, got a promise; await it first`;
      await expect(client.enqueue(task, as<JsonObject>(payload))).rejects.toThrow(refusal);
      const one = [{ n: {} }, as<JsonObject>(payload)];
      await expect(client.enqueueMany(task, one)).rejects.toThrow(`payload${place}`);
    },
  );

  test("the search for a promise runs no getter and no toJSON of a payload a second time", async () => {
    const task = defineTask<JsonObject>({ name: "t", run: async () => undefined });
    const { client } = openWorkerBench([task]);
    let looks = 0;
    const payload = {
      empty: {},
      get once() {
        looks += 1;
        return {};
      },
      told: { hidden: Promise.resolve(1), toJSON: () => ({ look: (looks += 1) }) },
    };
    expect((await client.enqueue(task, as<JsonObject>(payload))).outcome).toBe("enqueued");
    expect(looks).toBe(2);
  });

  test("an empty object, also of a class, and one without a prototype is none", async () => {
    const task = defineTask<JsonObject>({ name: "t", run: async () => undefined });
    const { client } = openWorkerBench([task]);
    class Quiet {
      #kept = 1;
      get kept(): number {
        return this.#kept;
      }
    }
    for (const payload of [{}, new Quiet(), Object.create(null)])
      expect((await client.enqueue(task, as<JsonObject>(payload))).outcome).toBe("enqueued");
  });
});

async function runOne(
  run: (ctx: TaskContext) => unknown,
): Promise<{ facts: Awaited<ReturnType<typeof factsOf>>; warnings: unknown[][] }> {
  const task = defineTask({ name: "t", run: async (_, ctx) => as<HandlerResult>(await run(ctx)) });
  const bench = openWorkerBench([task]);
  const { taskId } = await bench.client.enqueue(task);
  await bench.work("t");
  const warnings = bench.lines
    .filter(({ level }) => level === "warn")
    .map(({ message, fields }) => [message, fields?.["problem"]]);
  return { facts: await factsOf(bench, taskId), warnings };
}

test("a handler that returns a promise as a member has failed for good, with its place", async () => {
  const { facts } = await runOne(() => ({ sent: [Promise.resolve(1)] }));
  expect(facts).toMatchObject({
    state: "dead",
    error: "Expected `result.sent[0]` to be JSON, got a promise; await it first",
  });
});

test.each([
  ["an error", new Error("it went wrong"), "an object (Error)"],
  ["a map", new Map([["n", 1]]), "an object (Map)"],
])("a handler that returns %s has failed for good", async (_, value, got) => {
  const { facts } = await runOne(() => value);
  expect(facts).toMatchObject({
    state: "dead",
    error: `Expected \`result\` to be JSON, got ${got}, of which JSON keeps nothing`,
  });
});

test("a checkpoint that its handler doesn't return is told, as no part follows", async () => {
  const { facts, warnings } = await runOne((ctx) => void ctx.checkpoint({ at: 1 }));
  expect(facts.state).toBe("done");
  expect(warnings).toEqual([
    [
      "a handler made a checkpoint and didn't return it: its task is done",
      "`return ctx.checkpoint(..)` lets another part follow",
    ],
  ]);
  let parts = 0;
  const returned = await runOne((ctx) => ((parts += 1) === 1 ? ctx.checkpoint({ at: 1 }) : null));
  expect([returned.facts.state, parts, returned.warnings]).toEqual(["done", 2, []]);
});

test.each([
  [50, "expected { done, total, text }, got 50"],
  [{ done: "x", totl: 4 }, "done: expected a number, got a text"],
  [{ done: 1, total: Number.NaN }, "total: expected a number, got NaN"],
  [{ done: 1, totl: 4 }, "totl: expected one of done, total, text"],
])(
  "a progress report of %p harms no task, and what it lacks is told once",
  async (report, problem) => {
    const { facts, warnings } = await runOne((ctx) => {
      for (let call = 0; call < 3; call += 1) ctx.progress(as<{ done: number }>(report));
    });
    expect(facts.state).toBe("done");
    expect(warnings).toEqual([["a progress report tells less than was meant", problem]]);
  },
);

test("a report that is right is told by nothing", async () => {
  const { warnings } = await runOne((ctx) => {
    ctx.progress({ done: 1, total: 2, text: "half" });
    ctx.progress({ done: 1 });
  });
  expect(warnings).toEqual([]);
});

test("waitFor wants the id as a text", async () => {
  const task = defineTask({ name: "t", run: async () => undefined });
  const { client } = openWorkerBench([task]);
  await expect(client.waitFor(task, as<string>(5))).rejects.toThrow(
    /^taskId: expected the id of a task, which is a text/,
  );
});

test("a kind that is given twice is refused where the app is put together", () => {
  const task = defineTask({ name: "twice", run: async () => undefined });
  expect(() => taskgate({ tasks: [task, task] })).toThrow(
    "Expected each kind once, got `twice` twice",
  );
});
