import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../../shared/core/ids";
import { StoreUncertainError } from "../../../shared/core/errors";
import type { JsonObject } from "../../../shared/core/json";
import type { EnqueueTasksInput } from "../../../shared/ports/task-store";
import { JointEnqueues } from "../../../shared/worker/client/joint-enqueues";
import { register } from "../../../shared/worker/client/register";
import { defineTask } from "../../../shared/worker/define/define-task";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import { taskRef } from "../../../shared/worker/define/task-ref";
import { expectError } from "../../support/expect-error";
import { createGate, until, within } from "../../support/gate";
import { factsOf, openWorkerBench, overriding } from "./worker-bench";
import type { WorkerBench } from "./worker-bench";

/*
 * Goal: tasks that are added one by one at the same time share a call, and no caller can tell, but for the time.
 */
const idle = () => Promise.resolve();
const note = defineTask<{ n: number; text?: string }>({ name: "note", run: idle });

interface Scene extends WorkerBench {
  /** Tasks of each call, in the order in which they came to the store. */
  readonly calls: (readonly string[])[];
}

/** All definitions are known, and nothing was added. `before` may hold a call up, or let it fail. */
async function open(
  before: (call: number) => Promise<void> = idle,
  kinds: readonly AnyTaskKind[] = [],
): Promise<Scene> {
  const calls: string[][] = [];
  const known = [note, ...kinds];
  const bench = openWorkerBench(known, {
    wrap: (store) =>
      overriding(store, {
        enqueueTasks: async (input: EnqueueTasksInput, transaction) => {
          calls.push(input.tasks.map(({ payload }) => payload ?? ""));
          await before(calls.length);
          return store.enqueueTasks(input, transaction);
        },
      }),
  });
  for (const { definition } of known) await register(bench.environment, definition);
  bench.lines.splice(0);
  return { ...bench, calls };
}

const sizes = ({ calls }: Scene): number[] => calls.map((tasks) => tasks.length);

describe("tasks that are added one by one", () => {
  test("tasks that are added at the same time are one call, with one hint, and each caller gets its own task", async () => {
    const scene = await open();
    const added = await Promise.all([1, 2, 3].map((n) => scene.client.enqueue(note, { n })));
    expect(sizes(scene)).toEqual([3]);
    expect(scene.hints).toHaveLength(1);
    const facts = await Promise.all(added.map(({ taskId }) => factsOf(scene, taskId)));
    expect(facts.map(({ payload }) => payload)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
    expect(added.map(({ outcome }) => outcome)).toEqual(["enqueued", "enqueued", "enqueued"]);
    expect(scene.telemetry.counted.map(({ value }) => value)).toEqual([1, 1, 1]);
  });

  test("tasks that are added while a call is under way share the next one", async () => {
    const gate = createGate();
    const scene = await open((call) => (call === 1 ? gate.opened : idle()));
    const first = scene.client.enqueue(note, { n: 1 });
    await new Promise(setImmediate);
    const others = [2, 3].map(async (n) => {
      await new Promise(setImmediate);
      return scene.client.enqueue(note, { n });
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    gate.open();
    await Promise.all([first, ...others]);
    expect(sizes(scene)).toEqual([1, 2]);
  });

  test("tasks that are added go as soon as the call before has ended", async () => {
    const gates = [createGate(), createGate()];
    const sent: number[] = [];
    const neverLate = { after: () => idle, soon: setImmediate };
    const joint = new JointEnqueues(neverLate, async (tasks) => {
      await gates[sent.push(tasks.length) - 1]?.opened;
      return tasks.map(() => ({ taskId: asTaskId("1"), outcome: "enqueued" }));
    });
    const add = () => joint.enqueue({ definition: "note", task: { payload: null } });
    const first = add();
    await until("a call is under way", () => sent.length === 1);
    const others = [add(), add()];
    gates[0]?.open();
    await first;
    await until("the next call is under way", () => sent.length === 2);
    gates[1]?.open();
    await Promise.all(others);
    expect(sent).toEqual([1, 2]);
  });

  test("tasks that are added wait 20 ms for a call that hangs, and no longer", async () => {
    const gate = createGate();
    const scene = await open((call) => (call === 1 ? gate.opened : idle()));
    const hanging = scene.client.enqueue(note, { n: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await within(5_000, scene.client.enqueue(note, { n: 2 }));
    await within(5_000, scene.client.enqueue(note, { n: 3 }));
    gate.open();
    await hanging;
    expect(sizes(scene)).toEqual([1, 1, 1]);
  });

  test("tasks that are added send their call in the context of the first of them, which has it in its trace", async () => {
    const context = new AsyncLocalStorage<number>();
    const contexts: (number | undefined)[] = [];
    const gate = createGate();
    const scene = await open((call) => {
      contexts.push(context.getStore());
      return call === 1 ? gate.opened : idle();
    });
    const add = (n: number) => context.run(n, () => scene.client.enqueue(note, { n }));
    const first = add(1);
    await new Promise(setImmediate);
    const others = [add(2), add(3)];
    await new Promise(setImmediate);
    gate.open();
    await Promise.all([first, ...others]);
    expect(sizes(scene)).toEqual([1, 2]);
    expect(contexts).toEqual([1, 2]);
  });

  test("tasks that are added of two definitions are a call each", async () => {
    const other = defineTask({ name: "other", run: idle });
    const scene = await open(idle, [other]);
    await Promise.all([
      scene.client.enqueue(note, { n: 1 }),
      scene.client.enqueue(other, {}),
      scene.client.enqueue(note, { n: 2 }),
    ]);
    expect(sizes(scene)).toEqual([2, 1]);
  });

  test("tasks that are added in tens of thousands, or with large payloads, are calls that each fit the store's bounds", async () => {
    const scene = await open();
    const many = Array.from({ length: 10_001 }, (_, n) => scene.client.enqueue(note, { n }));
    await Promise.all(many);
    const text = "x".repeat(60_000);
    const large = Array.from({ length: 40 }, (_, n) => scene.client.enqueue(note, { n, text }));
    const added = new Set((await Promise.all(large)).map(({ taskId }) => taskId));
    expect(sizes(scene)).toEqual([10_000, 1, 34, 6]);
    expect(added.size).toBe(40);
  });

  test("tasks that are added to a definition that the database doesn't know yet register it once", async () => {
    const scene = openWorkerBench([note]);
    await Promise.all([1, 2, 3].map((n) => scene.client.enqueue(note, { n })));
    expect(scene.lines.map(({ message }) => message)).toEqual(["definition registered"]);
  });
});

describe("of tasks that share a call", () => {
  test("a task of a shared call that the store refuses hears what it hears alone, and the others are added", async () => {
    const scene = await open();
    const refused = (): Promise<unknown> =>
      scene.client.enqueue(note, { n: 2 }, { priority: 40_000 }).catch((error: unknown) => error);
    const [first, bad, last] = await Promise.all([
      scene.client.enqueue(note, { n: 1 }),
      refused(),
      scene.client.enqueue(note, { n: 3 }),
    ]);
    expect(bad).toEqual(await refused());
    expect(String(bad)).toContain("40000");
    for (const { taskId } of [first, last])
      expect(await factsOf(scene, taskId)).toMatchObject({ state: "ready" });
    const { definitions } = await scene.store.listDefinitions({});
    expect(definitions).toEqual([expect.objectContaining({ name: "note", ready: 2 })]);
  });

  test("all callers of a shared call hear that the answer was lost, and none is sent again", async () => {
    const scene = await open(async (call) => {
      if (call === 1) throw new StoreUncertainError("the answer was lost");
    });
    const calls = [1, 2].map((n) => scene.client.enqueue(note, { n }));
    await Promise.all(
      calls.map((call) => expectError(call, { code: "TASKGATE_STORE_UNCERTAIN", value: "lost" })),
    );
    expect(sizes(scene)).toEqual([2]);
  });
});

describe("a task that may wait for another's lock is a call of its own:", () => {
  const grouped = defineTask<JsonObject>({ name: "grouped", group: { by: "g" }, run: idle });
  const keyed = defineTask<JsonObject>({ name: "keyed", dedupe: { by: "g" }, run: idle });
  const later = defineTask<JsonObject>({ name: "later", runInMs: 5, run: idle });
  const plain = defineTask<JsonObject>({ name: "plain", run: idle });
  const cases = [
    ["of a group by its kind", grouped, {}],
    ["with a key by its kind", keyed, {}],
    ["with a delay by its kind", later, {}],
    ["of a group", plain, { group: "g" }],
    ["with a key", plain, { dedupeKey: "k" }],
    ["with a delay", plain, { runInMs: 5 }],
    ["with an instant", plain, { runAt: new Date(Date.now() + 60_000) }],
    ["of a kind that is other code's", taskRef({ name: "foreign" }), {}],
  ] as const;
  test.each(cases)("a task %s is a call of its own", async (_, task, options) => {
    const foreign = defineTask({ name: "foreign", run: idle });
    const scene = await open(idle, [grouped, keyed, later, plain]);
    await register(scene.environment, foreign.definition);
    await Promise.all([1, 2].map(() => scene.client.enqueue(task, { g: "g" }, options)));
    expect(sizes(scene)).toEqual([1, 1]);
  });
});
