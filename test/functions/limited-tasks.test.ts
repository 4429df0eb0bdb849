import { InvocationContext } from "@azure/functions";
import { describe, expect, test } from "@jest/globals";
import { taskgate } from "../../shared/functions";
import { LimitedTasks, storeMessage } from "../../shared/functions/limited-tasks";
import { runTaskOnce } from "../../shared/testing";
import { defineQueue } from "../../shared/worker/define/define-queue";
import { defineTask } from "../../shared/worker/define/define-task";
import type { AnyTaskKind, TaskKind } from "../../shared/worker/define/task-kind";
import { openWorkerBench } from "../unit/worker/worker-bench";

/*
 * Goal: the message of a function never runs another function's handler, also where a bundler has named the handlers anew.
 */
const partner = [{ name: "partner", limit: 1 }];

/** Handlers that say their own names. */
function addAll(tasks: LimitedTasks, names: readonly (string | { given: string })[]) {
  const ran: string[] = [];
  const kinds = names.map((each) => {
    const [name, own] = typeof each === "string" ? [each, each] : [each.given, null];
    return tasks.add({ name, own }, partner, () => ran.push(name));
  });
  return { ran, kinds };
}

/** How one run of a stored message ends: `done`, or its error. */
async function endOf(kind: AnyTaskKind, payload: object): Promise<string> {
  const { end } = await runTaskOnce(kind as TaskKind, { payload: payload as never });
  return end.kind === "failed" ? end.error : end.kind;
}

describe("names of handlers that a bundler may have made", () => {
  test.each([
    ["a minifier", ["pe"], "name: expected one that stays in the next build (pe); a minifier"],
    ["a minifier, one letter", ["$"], "a minifier seems to have made it"],
    ["esbuild", ["handler", "handler2"], "(handler2); with handler beside it a bundler"],
    ["esbuild, in another order", ["handler12", "handler"], "with handler12 beside it a bundler"],
    ["rollup", ["handler", "handler$1"], "with handler beside it a bundler"],
  ])(
    "a handler's name that a bundler may have made is refused while the app is loaded: %s",
    (_, names, message) => {
      expect(() => addAll(new LimitedTasks(), names)).toThrow(message);
    },
  );

  test.each([
    ["names that the app gives", [{ given: "e" }, { given: "e2" }]],
    ["a number without the name before it", ["step2", "step3"]],
    ["a name that goes on", ["notify", "notifyAll", "notify2nd"]],
  ])("a handler's name that a bundler may have made is no matter with %s", (_, names) => {
    expect(addAll(new LimitedTasks(), names).kinds).toHaveLength(names.length);
  });
});

describe("a handler with the name of a task", () => {
  const run = () => Promise.resolve();
  const limit = { name: "partner", limit: 1 };
  async function handleOrder() {
    await run();
  }
  const versioned = defineTask({
    name: "handleOrder",
    version: 2,
    upgrade: { 1: () => ({ id: "" }) },
    run: (_payload: { id: string }) => run(),
  });
  const wrap = (tasks: AnyTaskKind[]) => taskgate({ tasks }).limited(limit, handleOrder);

  test.each<[string, () => AnyTaskKind, string]>([
    ["a task", () => defineTask({ name: "handleOrder", run }), "handleOrder is a task already"],
    ["an older version of a task", () => versioned, "handleOrder is a task already"],
    [
      "a queue of tasks",
      () => defineTask({ name: "other", queue: defineQueue({ name: "handleOrder" }), run }),
      "handleOrder is a queue of tasks already",
    ],
  ])("limited refuses a handler with the name of %s", (_, make, message) => {
    expect(() => wrap([make()])).toThrow(
      `${message}: give the handler another name as { name: ".." }`,
    );
  });

  test("gate.register refuses a task that the app has declared behind its handler of that name", () => {
    const tasks: AnyTaskKind[] = [];
    const gate = taskgate({ tasks });
    gate.limited(limit, handleOrder);
    tasks.push(defineTask({ name: "handleOrder", run }));
    const nothing = { storageQueue: run, timer: run, http: run, hook: {} } as never;
    expect(() => {
      gate.register(nothing);
    }).toThrow("handleOrder is a task already");
  });

  test("gate.register, gate.api and gate.hooks name the app where they are called without it", () => {
    const gate = taskgate({ tasks: [] });
    for (const call of [gate.register, gate.api, gate.hooks] as ((app?: object) => void)[])
      for (const given of [undefined, {}])
        expect(() => {
          call(given);
        }).toThrow(/^app: expected `app` of @azure\/functions \((?:undefined|an object)\)$/);
  });

  test("limited takes a handler whose name a task has where the app's name stands before it", () => {
    const tasks = [defineTask({ name: "handleOrder", run })];
    const gate = taskgate({ app: "billing", tasks });
    expect(gate.limited(limit, handleOrder)).toBeInstanceOf(Function);
  });
});

describe("the stored message of a function", () => {
  const stored = { message: { order: 1 }, functionName: "refund", triggerMetadata: {} };

  test("the stored message of a function runs its kind's handler, also in a process that lacks the function for the kind", async () => {
    const tasks = new LimitedTasks();
    const { ran, kinds } = addAll(tasks, ["refund", "invoice"]);
    const [refund, invoice] = kinds;
    if (refund === undefined || invoice === undefined) throw new Error("Two kinds were added");
    expect(await endOf(refund, stored)).toBe("done");
    tasks.noteFunction("invoice", invoice);
    tasks.noteFunction("refund", refund);
    expect(await endOf(refund, stored)).toBe("done");
    expect(ran).toEqual(["refund", "refund"]);
  });

  test("the stored message of a function waits for a process of another build where the function has another handler here", async () => {
    const tasks = new LimitedTasks();
    const { ran, kinds } = addAll(tasks, [{ given: "sendRefund" }, { given: "sendInvoice" }]);
    const [refund, invoice] = kinds;
    if (refund === undefined || invoice === undefined) throw new Error("Two kinds were added");
    tasks.noteFunction("refund", refund);
    const end = await endOf(invoice, stored);
    expect(end).toContain("Function refund has the handler sendRefund here, not sendInvoice");
    expect(ran).toEqual([]);
    // A function may choose among several.
    tasks.noteFunction("refund", invoice);
    expect(await endOf(invoice, stored)).toBe("done");
  });

  test("the stored message of a function takes a task of its own size, and its handler finds the metadata as they were", async () => {
    const tasks = new LimitedTasks();
    const seen: InvocationContext[] = [];
    const kind = tasks.add({ name: "refund", own: null }, partner, (_, context) =>
      seen.push(context),
    );
    // With a copy of its text it would not fit into the 64 KiB of a payload.
    const message = { text: "y".repeat(47_000), order: { id: 7 }, Size: 3, shown: [1] };
    const own = { id: "m-1", dequeueCount: 2, shown: "by the host" };
    const { text, order } = message;
    const host = { queueTrigger: message, popReceipt: "p" };
    const context = new InvocationContext({
      functionName: "refund",
      triggerMetadata: { ...host, text, order, size: 3, ...own },
    });
    const { client, work } = openWorkerBench([kind]);
    expect(await storeMessage(client, kind, { message, context })).toBe(true);
    await work("refund");
    expect(seen.map(({ triggerMetadata }) => triggerMetadata)).toEqual([
      { text, order, size: 3, ...own },
    ]);
  });

  test("the stored message of a function that an older build stored keeps its metadata", async () => {
    const tasks = new LimitedTasks();
    const seen: InvocationContext[] = [];
    const kind = tasks.add({ name: "refund", own: null }, partner, (_, context) =>
      seen.push(context),
    );
    const triggerMetadata = { id: "m-1", order: 1 };
    expect(await endOf(kind, { ...stored, triggerMetadata })).toBe("done");
    expect(seen[0]?.triggerMetadata).toEqual(triggerMetadata);
  });
});
