import { expect, test } from "@jest/globals";
import { createAdmin } from "../../shared/admin/create-admin";
import { FreeTokenHints } from "../../shared/platform/free-token-hints";
import { nodeTimers } from "../../shared/platform/node-timers";
import { NotifyingWakeUp } from "../../shared/platform/notifying-wake-up";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import { createStorageQueueWakeUp } from "../../shared/platform/storage-queue-wake-up";
import type { Logger } from "../../shared/ports/logger";
import type { TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import { define } from "../support/builders";
import { callRoute } from "./api-setup";
import type { ApiRequest } from "./api-setup";

/*
 * Goal: nothing goes on behind an answer, since the host may stop a process that has answered. Method: the shipped way of
 * hints over a slow database and a slow queue; each call of either is counted.
 */
const quiet = (): void => undefined;
const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
/** Longer than any hint is put off within a process. */
const laterMs = 450;

function openApi() {
  const calls = { begun: 0, underWay: 0 };
  const slowly = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    calls.begun += 1;
    calls.underWay += 1;
    await sleep(5);
    return call().finally(() => {
      calls.underWay -= 1;
    });
  };
  const memory = new MemoryTaskStore({
    clock: { now: () => realClock.nowMs() },
    random: realRandom,
  });
  const store: TaskStore = new Proxy<TaskStore>(memory, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) =>
        slowly(async () => Reflect.apply(value, target, given) as unknown);
    },
  });
  const timed = { clock: realClock, timers: nodeTimers, store: () => store };
  const queue = { send: () => slowly(() => Promise.resolve()) };
  const hints = createStorageQueueWakeUp({ ...timed, queue, logger });
  const wakeUp = new NotifyingWakeUp({
    ...timed,
    hints: new FreeTokenHints({ ...timed, hints }),
  });
  const admin = createAdmin({
    ...{ store, wakeUp, random: realRandom, timers: nodeTimers, build: 7, traceUrl: null },
  });
  /** Answers how many calls were under way at the answer, and how many began behind it. */
  const follow = async (request: ApiRequest) => {
    const { status } = await callRoute(() => Promise.resolve(admin), request);
    const { begun, underWay } = calls;
    await sleep(laterMs);
    return { status, underWay, later: calls.begun - begun };
  };
  return { memory, follow, calls };
}

const quietAnswer = (status: number) => ({ status, underWay: 0, later: 0 });

test("the API never works after its answer", async () => {
  const { memory, follow, calls } = openApi();
  const name = await define(memory, { limit: 2 });
  const of = (route: string, body: unknown): ApiRequest => ({ route, params: { name }, body });
  const enqueue = of("api-enqueue", { payload: { a: 1 } });
  expect(await follow(enqueue)).toEqual(quietAnswer(201));
  // The hint of the database's free token, the queue's message, the call itself.
  expect(calls.begun).toBeGreaterThanOrEqual(3);
  // The second and the third of one moment share what goes out when the quiet time is over.
  const together = await Promise.all([follow(enqueue), follow(enqueue), follow(enqueue)]);
  expect(together.map(({ status }) => status)).toEqual([201, 201, 201]);
  const alone = openApi();
  const other = await define(alone.memory, { limit: 1 });
  const added = { route: "api-enqueue", params: { name: other }, body: { payload: {} } };
  void alone.follow(added);
  expect(await alone.follow(added)).toEqual(quietAnswer(201));
  const [task] = (await memory.listTasks({ name, state: "ready", max: 1 })).tasks;
  for (const request of [
    of("api-enqueue", { payload: { a: 1 }, runInMs: 60_000 }),
    of("api-pause", {}),
    of("api-resume", {}),
    of("api-limit", { limit: 3 }),
    of("api-rate", { rate: { count: 5, periodMs: 1_000 } }),
    { route: "api-stop", params: {}, body: {} },
    { route: "api-resume-all", params: {}, body: {} },
    { route: "api-reschedule", params: {}, body: { tasks: [task?.task], runInMs: 1_000 } },
    { route: "api-cancel", params: {}, body: { tasks: [task?.task] } },
    { route: "api-status", params: {} },
  ] satisfies ApiRequest[])
    expect({ ...request, ...(await follow(request)) }).toMatchObject({
      underWay: 0,
      later: 0,
      status: request.route === "api-enqueue" ? 201 : 200,
    });
}, 30_000);
