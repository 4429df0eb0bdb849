// Goal: what an app's functions count has its own name. The gate runs in this process, on PostgreSQL, without telemetry.
import { HttpRequest, InvocationContext } from "@azure/functions";
import type { HttpHandler } from "@azure/functions";
import { afterAll, afterEach, beforeAll, expect, jest, test } from "@jest/globals";
import { defineTask } from "../../shared";
import { noTelemetry } from "../../shared/ports/telemetry";
import { createGate } from "../support/gate";
import { openGateScene } from "./gate-scene";
import type { GateScene } from "./gate-scene";

const greet = defineTask({ name: "greet", limit: 0, run: () => Promise.resolve() });
let onTidy = (): void => undefined;
const tidy = defineTask({
  name: "tidy",
  run: async () => {
    onTidy();
  },
});
let scene: GateScene;
const count = jest.spyOn(noTelemetry, "count");

beforeAll(async () => {
  scene = await openGateScene({ tasks: [greet, tidy] });
});
afterEach(() => void count.mockClear());
afterAll(() => scene.close());

/** What was added to one counter, with its attributes. */
function countedAs(counter: string): [number, object | undefined][] {
  return count.mock.calls
    .filter(([name, value]) => name === counter && value !== 0)
    .map(([, value, attributes]) => [value, attributes]);
}

test("a sweep of the timer is counted, a poll of a resident worker isn't", async () => {
  await scene.gate.sweep.handler({}, new InvocationContext());
  expect(countedAs("taskgate.sweep.count")).toEqual([[1, undefined]]);

  const ran = createGate();
  onTidy = ran.open;
  await scene.gate.enqueue(tidy, {});
  const ending = new AbortController();
  const working = scene.gate.work({ signal: ending.signal, pollMs: 10 });
  // By then the first poll has begun; the end waits for it.
  await ran.opened;
  ending.abort();
  await working;
  expect(countedAs("taskgate.sweep.count")).toEqual([[1, undefined]]);
});

test("an invocation that got no token is counted with its limit and its way, not as a worker", async () => {
  const partner = { name: "partner", limit: 1 };
  const limited = scene.gate.limited(partner, { waitMs: 0, overflow: "refuse" }, () => "ran");
  const held = createGate();
  const over = createGate();
  const holding = scene.gate.withTokens(partner, async () => {
    held.open();
    await over.opened;
  });
  await held.opened;
  const trigger = { type: "httpTrigger", name: "trigger" };
  const options = { trigger, extraInputs: [], extraOutputs: [] };
  expect(await limited({}, new InvocationContext({ options }))).toMatchObject({ status: 429 });
  over.open();
  await holding;
  const limitedBy = { limit: "partner", way: "refuse" };
  expect(countedAs("taskgate.invocation.limited")).toEqual([[1, limitedBy]]);
  expect(countedAs("taskgate.execution.limited")).toEqual([]);
});

test("tasks that are added over HTTP are counted as enqueued, like those of gate.enqueue", async () => {
  const handlers = new Map<string, HttpHandler>();
  const http = (name: string, { handler }: { handler: HttpHandler }) => handlers.set(name, handler);
  scene.gate.api({ http } as never);
  const request = new HttpRequest({
    method: "POST",
    url: "http://localhost/api/definitions/greet/tasks",
    params: { name: "greet" },
    body: { string: JSON.stringify({ tasks: [{ payload: {} }, { payload: {} }] }) },
  });
  const answer = await handlers.get("api-enqueue")?.(request, new InvocationContext());
  expect(answer).toMatchObject({ status: 201 });
  await scene.gate.enqueue(greet, {});
  expect(countedAs("taskgate.task.enqueued").map(([value]) => value)).toEqual([2, 1]);
});
