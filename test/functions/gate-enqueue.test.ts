import { HttpRequest, InvocationContext } from "@azure/functions";
import type { HttpHandler } from "@azure/functions";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { defineTask, taskRequest } from "../../shared";
import type { StandardSchema } from "../../shared";
import { taskgate } from "../../shared/functions";
import type { AppParts } from "../../shared/functions";
import { until } from "../support/gate";
import { withClient } from "../support/test-postgres";
import { openGateScene } from "./gate-scene";
import type { GateScene } from "./gate-scene";

/* Goal: functions of an app add tasks by `gate` alone. The gate runs in this process, on PostgreSQL and the emulator of the storage. */
const schema: StandardSchema<{ name: string }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "object" &&
      value !== null &&
      "name" in value &&
      typeof value.name === "string"
        ? { value: { name: value.name } }
        : { issues: [{ message: "name: expected a text" }] },
  },
};
const greet = defineTask({ name: "greet", input: schema, run: async () => undefined });
const tidy = defineTask({ name: "tidy", run: async () => undefined });
let scene: GateScene;

beforeAll(async () => {
  scene = await openGateScene({ tasks: [greet, tidy] });
});
afterAll(() => scene.close());

/** Kinds and payloads of the tasks that wait, in the order of their ids. */
async function waiting(): Promise<string[]> {
  const { rows } = await withClient(scene.url, (client) =>
    client.query<{ text: string }>(
      "select t.kind || ' ' || coalesce(t.payload, 'null') as text from taskgate.task t order by t.task_id",
    ),
  );
  return rows.map(({ text }) => text);
}

/** Definitions of the hints in the queue. */
async function hinted(): Promise<string[]> {
  const hints = scene.queue("taskgate-hints");
  if (!(await hints.exists())) return [];
  const { peekedMessageItems } = await hints.peekMessages({ numberOfMessages: 32 });
  return peekedMessageItems.map(({ messageText }) => {
    const text = Buffer.from(messageText, "base64").toString("utf8");
    return (JSON.parse(text) as { taskDefinition: string }).taskDefinition;
  });
}

test("gate.end tells a body under a limit to stop, and gives its token back", async () => {
  const gate = taskgate({ tasks: [] });
  const begun = new AbortController();
  const call = gate.withTokens({ name: "ends", limit: 1 }, async ({ signal }) => {
    begun.abort();
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
    });
    return "told";
  });
  await until("the body has begun", async () => begun.signal.aborted);
  await gate.end();
  expect(await call).toEqual({ ran: true, value: "told" });
  const other = taskgate({ tasks: [] });
  const free = await other.withTokens({ name: "ends", limit: 1 }, async () => "free");
  await other.end();
  expect(free).toEqual({ ran: true, value: "free" });
});

test("a gate that has ended before its first use opens nothing", async () => {
  const unused = taskgate({ tasks: [tidy] });
  await unused.end();
  await expect(unused.enqueue(tidy, null)).rejects.toMatchObject({
    code: "TASKGATE_STORE_UNAVAILABLE",
    message: "The app ends in this process, or has ended: nothing was sent",
  });
});

describe("gate.enqueue", () => {
  test("a gate goes on after another one of the process has ended, and that one says so", async () => {
    const other = taskgate({ tasks: [tidy] });
    await other.enqueue(tidy, null, { dedupeKey: "ends" });
    await other.end();
    await scene.gate.enqueue(tidy, null, { dedupeKey: "goes on" });
    await expect(other.enqueue(tidy, null)).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: "The app ends in this process, or has ended: nothing was sent",
    });
    await withClient(scene.url, (client) => client.query("delete from taskgate.task"));
  });

  test("gate.enqueue stores the task, registers its definition and leaves a hint", async () => {
    const made = await scene.gate.enqueue(greet, { name: "Ada" }, { dedupeKey: "ada" });
    expect(made).toMatchObject({ outcome: "enqueued", taskId: expect.stringMatching(/^\d+$/) });
    expect(await waiting()).toEqual(['greet {"name":"Ada"}']);
    const again = await scene.gate.enqueue(greet, { name: "Ada" }, { dedupeKey: "ada" });
    expect(again).toMatchObject({ outcome: "duplicate", taskId: made.taskId });
    await until("the hint has come", async () => (await hinted()).includes("greet"));
  });

  test("gate.enqueue refuses a payload that the schema refuses, and an unknown option, by name", async () => {
    const { gate } = scene;
    await expect(gate.enqueue(greet, { name: 7 } as never)).rejects.toThrow(
      "name: expected a text",
    );
    const mistyped = { runinMs: 3 } as never;
    await expect(gate.enqueue(greet, { name: "Ada" }, mistyped)).rejects.toThrow("runInMs");
    expect(await waiting()).toHaveLength(1);
  });
});

describe("gate.enqueueMany and gate.enqueueAll", () => {
  test("gate.enqueueMany answers for each payload in the order of the input", async () => {
    const names = ["Grace", "Edsger", "Barbara"];
    const made = await scene.gate.enqueueMany(
      greet,
      names.map((name) => ({ name })),
    );
    expect(made.map(({ outcome }) => outcome)).toEqual(["enqueued", "enqueued", "enqueued"]);
    const expected = names.map((name) => `greet {"name":"${name}"}`);
    expect((await waiting()).slice(1)).toEqual(expected);
  });

  test("gate.enqueueAll stores tasks of several kinds", async () => {
    const requests = [taskRequest(tidy, { day: 1 }), taskRequest(greet, { name: "Alan" })];
    const made = await scene.gate.enqueueAll(requests);
    expect(new Set(made.map(({ taskId }) => taskId)).size).toBe(2);
    const stored = await waiting();
    expect(stored).toContain('tidy {"day":1}');
    expect(stored).toContain('greet {"name":"Alan"}');
    await until("the second hint has come", async () => (await hinted()).includes("tidy"));
  });
});

test("the route GET results refuses parameters, as every route without a query does", async () => {
  const handlers = new Map<string, HttpHandler>();
  const add = (name: string, { handler }: { handler: HttpHandler }) => handlers.set(name, handler);
  scene.gate.api({ http: add } as never);
  const ask = (query: Record<string, string>) => {
    const request = new HttpRequest({ method: "GET", url: "http://localhost/api/results", query });
    return handlers.get("app-results")?.(request, new InvocationContext());
  };
  expect(await ask({ code: "a key" })).toMatchObject({ status: 200, jsonBody: { tables: [] } });
  expect(await ask({ x: "1" })).toMatchObject({
    status: 400,
    body: expect.stringContaining('"field":"x"') as unknown,
  });
});

test("gate.register and gate.api refuse unknown options by name", () => {
  const gate = taskgate({ tasks: [greet] });
  const register = (options: object) => () => {
    gate.register({} as never, options);
  };
  expect(register({ name: {} })).toThrow("name: unknown option of register. Did you mean `names`?");
  expect(register({ names: { sweeep: "s" } })).toThrow("sweeep: unknown option of names.");
  expect(() => {
    gate.api({} as never, { prefx: "x" } as object);
  }).toThrow("prefx: unknown option of api. Did you mean `prefix`?");
});

describe("taskgate refuses parts and names them:", () => {
  test.each<[object, string]>([
    [
      { task: [greet] },
      "task: unknown option of taskgate. Did you mean `tasks`? Known are app, tasks, events, results",
    ],
    [{ tasks: [greet], event: [] }, "event: unknown option of taskgate. Did you mean `events`?"],
    [{}, "tasks: expected a list of what defineTask returns (undefined)"],
    [{ tasks: { greet } }, "tasks: expected a list of what defineTask returns (an object)"],
    [{ tasks: [greet, undefined] }, "tasks[1]: expected what defineTask returns (undefined)"],
    [{ tasks: [], events: {} }, "events: expected a list of routes (an object)"],
    [
      { tasks: [], events: [5] },
      "events[0]: expected a route, { matches, toTasks }, both functions (5)",
    ],
    [
      { tasks: [], events: [{ matches: () => true, toTasks: () => [] }, {}] },
      "events[1]: expected a route, { matches, toTasks }, both functions (an object)",
    ],
    [{ tasks: [], app: 5 }, "app: expected 1..200 characters"],
  ])("taskgate refuses the parts %j and names them", (parts, message) => {
    expect(() => taskgate(parts as AppParts)).toThrow(message);
  });
});
