import { expect, test } from "@jest/globals";
import { sleep } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { LimitPools } from "../../../shared/worker/run/limit-pools";
import { withTokens } from "../../../shared/worker/run/with-tokens";
import { TokenScene } from "./token-scene";
import type { Call } from "./token-scene";
import { openWorkerBench, overriding } from "./worker-bench";

/* While a call of the database is away, bodies begin on the tokens that stay. */

test("withTokens begins bodies on the tokens that stay while releaseSurplus is away", async () => {
  const scene = new TokenScene();
  const limit = { name: "partner", limit: 4 };
  let leftMs = 0;
  let cameMs = 0;
  const slow = (store: TaskStore): TaskStore =>
    overriding(store, {
      releaseSurplus: async (input) => {
        leftMs ||= scene.time.nowMs;
        await scene.time.sleep(400);
        const answer = await store.releaseSurplus(input);
        cameMs ||= scene.time.nowMs;
        return answer;
      },
    });
  const holder = scene.process("holder", slow);
  const calls: Call[] = [];
  let isOver = false;
  const callOn = async (): Promise<void> => {
    for (;;) {
      const call = holder.call(limit, { waitMs: 5_000, bodyMs: 20 });
      calls.push(call);
      while (call.answeredMs === null) await scene.time.sleep(1);
      if (isOver) return;
    }
  };
  for (let caller = 0; caller < 8; caller += 1) void callOn();
  await scene.until(300);
  const other = scene.process("other").call(limit, { waitMs: 5_000, bodyMs: 20 });
  await scene.until(2_500);
  isOver = true;
  await scene.until(2_600);
  expect(leftMs).toBeGreaterThan(0);
  expect(cameMs).toBeGreaterThanOrEqual(leftMs + 400);
  const began = calls.filter(
    ({ beganMs }) => beganMs !== null && beganMs > leftMs + 25 && beganMs < cameMs - 5,
  );
  // At least two of four tokens stay: two bodies of 20 ms each time.
  expect(began.length).toBeGreaterThan(30);
  expect(other.answer).toEqual({ ran: true, value: undefined });
  expect(scene.runningMax).toBeLessThanOrEqual(4);
});

test("withTokens of bodies that wait for nothing begins some in each turn while releaseSurplus is away", async () => {
  const bench = openWorkerBench([]);
  const limit = { name: "hot", limit: 4 };
  let away = 0;
  let calls = 0;
  let turns = 0;
  const store = overriding(bench.store, {
    releaseSurplus: async (input) => {
      away += 1;
      await sleep(5_000);
      return bench.store.releaseSurplus(input);
    },
  });
  const pools = new LimitPools({ ...bench.environment, store }, bench.heartbeat);
  const others = new LimitPools({ ...bench.environment, workerName: "other" }, bench.heartbeat);
  const over = new AbortController();
  let before = 0;
  const timer = setInterval(() => {
    if (away > 0 && calls > before) turns += 1;
    before = calls;
    if (turns > 60) over.abort();
  }, 1);
  const body = async (): Promise<void> => void (calls += 1);
  const callers = Array.from({ length: 8 }, async () => {
    while (!over.signal.aborted) await withTokens(pools, { limit, waitMs: 60_000 }, body);
  });
  await sleep(50);
  const { signal } = over;
  const asks = withTokens(others, { limit, waitMs: 60_000, signal }, async () => undefined);
  const waited = sleep(4_000);
  await Promise.race([Promise.all(callers), waited]);
  over.abort();
  clearInterval(timer);
  await Promise.all([asks, ...callers, others.stop(), pools.stop()]);
  expect(away).toBe(1);
  // The share of one turn is used up at once; all further ones come while the call is away.
  expect(turns).toBeGreaterThan(60);
});

test("withTokens under a rate answers soon after its body, its abort or its time while the database is silent", async () => {
  const scene = new TokenScene();
  const limit = { name: "paced", limit: 4, rate: { count: 100, periodMs: 1_000, burst: 100 } };
  let isSilent = false;
  const silent = <Input, Answer>(call: (input: Input) => Promise<Answer>) => {
    return async (input: Input): Promise<Answer> => {
      if (isSilent) await scene.time.sleep(90_000);
      return call(input);
    };
  };
  const process = scene.process("one", (store) =>
    overriding(store, {
      startExecution: silent((input) => store.startExecution(input)),
      finishExecution: silent((input) => store.finishExecution(input)),
    }),
  );
  const ran = process.call(limit, { bodyMs: 100 });
  await scene.until(90);
  isSilent = true;
  const own = new AbortController();
  const aborted = process.call(limit, { waitMs: 60_000, signal: own.signal });
  await scene.until(200);
  own.abort();
  await scene.until(1_000);
  expect(ran.answer).toEqual({ ran: true, value: undefined });
  expect(aborted.answer).toMatchObject({ ran: false, reason: "aborted" });
  expect(ran.answeredMs).toBeLessThan(500);
  expect(aborted.answeredMs).toBeLessThan(500);
});
