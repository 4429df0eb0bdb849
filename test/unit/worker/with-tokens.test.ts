import { describe, expect, test } from "@jest/globals";
import { asOperationId } from "../../../shared/core/ids";
import { createSeededRandom } from "../../../shared/testing/seeded-random";
import type { CallLimit } from "../../../shared/worker/run/call-limits";
import { LimitPools } from "../../../shared/worker/run/limit-pools";
import { withTokens } from "../../../shared/worker/run/with-tokens";
import { openWorkerBench, overriding } from "./worker-bench";
import { callMs, TokenScene } from "./token-scene";

const partner = { name: "partner", limit: 2 };
const random = createSeededRandom(7);

async function setLimit(scene: TokenScene, limit: number): Promise<void> {
  await scene.store.setSharedLimit({
    name: partner.name,
    limit,
    operationId: asOperationId(random.uuid()),
    changedBy: "test",
  });
}

async function heldOf(scene: TokenScene): Promise<number | undefined> {
  const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
  return sharedLimits.find(({ name }) => name === partner.name)?.held;
}

describe("withTokens in one process", () => {
  test("withTokens makes one ask for all calls of a turn, and no call of the database for a free token", async () => {
    const scene = new TokenScene();
    const { call, asked } = scene.process("one");
    const first = [call(partner), call(partner)];
    await scene.until(120);
    expect(first.map(({ answer }) => answer)).toEqual([
      { ran: true, value: undefined },
      { ran: true, value: undefined },
    ]);
    // The first start found no such definition.
    expect(asked).toEqual(["startExecution", "registerDefinition", "startExecution"]);
    const later = [call(partner), call(partner)];
    expect(later.map(({ beganMs }) => beganMs)).toEqual([120, 120]);
    await scene.until(225);
    expect(asked).toHaveLength(3);
    expect(scene.runningMax).toBe(2);
  });

  test("withTokens serves the calls that wait in the order in which they came, each as soon as a body has ended", async () => {
    const scene = new TokenScene();
    const { call } = scene.process("one");
    const calls = Array.from({ length: 7 }, () => call(partner, { waitMs: 5_000 }));
    await scene.until(2_000);
    const began = calls.map(({ beganMs }) => beganMs ?? -1);
    expect(began).toEqual([...began].sort((a, b) => a - b));
    // Four rounds of two tokens; nothing lies between the bodies of a token.
    expect((began.at(-1) ?? 0) - (began[0] ?? 0)).toBe(300);
    expect(scene.runningMax).toBe(2);
  });

  test("withTokens answers limited when the wait is over, to the millisecond, and the place goes to the next call", async () => {
    const scene = new TokenScene();
    const { call } = scene.process("one");
    for (let count = 0; count < 2; count += 1) call(partner, { bodyMs: 1_000 });
    await scene.until(50);
    const late = call(partner, { waitMs: 300 });
    const patient = call(partner, { waitMs: 3_000 });
    await scene.until(2_000);
    expect(late).toMatchObject({ beganMs: null, answeredMs: 350, answer: { ran: false } });
    expect(late.answer).toMatchObject({ reason: "limited", retryInMs: expect.any(Number) });
    expect(patient.beganMs).toBeLessThan(1_050);
  });

  test.each([0, 1, 5, 11])(
    "withTokens that waits %i ms gets a free token, though the first answer takes longer",
    async (waitMs) => {
      const scene = new TokenScene();
      const { call } = scene.process("one");
      const quick = call(partner, { waitMs });
      await scene.until(4 * callMs);
      expect(quick.beganMs).toBe(3 * callMs);
    },
  );

  test("withTokens that waits for less than the first answer is denied by it, not before", async () => {
    const scene = new TokenScene();
    scene.process("holder").call({ name: "partner", limit: 1 }, { bodyMs: 5_000 });
    await scene.until(50);
    const quick = scene.process("other").call({ name: "partner", limit: 1 }, { waitMs: 1 });
    await scene.until(300);
    expect(quick).toMatchObject({ answer: { ran: false, reason: "limited" } });
    expect(quick.answeredMs).toBeGreaterThan(50 + 1);
    expect(quick.answeredMs).toBeLessThanOrEqual(50 + 3 * callMs);
  });

  test("withTokens without a wait answers after one ask, and at once while that answer is fresh", async () => {
    const scene = new TokenScene();
    const holder = scene.process("holder");
    holder.call({ name: "partner", limit: 1 }, { bodyMs: 5_000 });
    await scene.until(50);
    const other = scene.process("other");
    const first = other.call({ name: "partner", limit: 1 });
    await scene.until(50 + 2 * callMs);
    expect(first.answer).toMatchObject({ ran: false, reason: "limited" });
    const asks = other.asked.length;
    const second = other.call({ name: "partner", limit: 1 });
    await scene.until(60);
    expect(second.answer).toMatchObject({ ran: false, reason: "limited" });
    expect(other.asked).toHaveLength(asks);
  });

  test("withTokens skips a caller that has left by its signal, and keeps no listener and no timer of it", async () => {
    const scene = new TokenScene();
    const { call } = scene.process("one");
    for (let count = 0; count < 2; count += 1) call(partner, { bodyMs: 400 });
    await scene.until(50);
    const leaves = new AbortController();
    const left = call(partner, { waitMs: 60_000, signal: leaves.signal });
    const next = call(partner, { waitMs: 60_000 });
    await scene.until(100);
    leaves.abort(new Error("the caller left"));
    await scene.until(110);
    expect(left.answer).toEqual({ ran: false, reason: "aborted", retryInMs: 0 });
    await scene.until(600);
    expect(left.beganMs).toBeNull();
    expect(next.beganMs).toBeLessThan(450);
    const aborted = call(partner, { waitMs: 60_000, signal: leaves.signal });
    await scene.until(601);
    expect(aborted.answer).toEqual({ ran: false, reason: "aborted", retryInMs: 0 });
    // Nothing is left to wait for: no event comes after the tokens went back.
    await scene.until(5_000);
    const { events } = scene.time;
    await scene.until(200_000);
    expect(scene.time.events).toBe(events);
  });

  test("withTokens gives tokens back 50 ms after the last body once another process held all of them, for five seconds", async () => {
    const scene = new TokenScene();
    const limit = { name: "partner", limit: 1 };
    const [first, second] = [scene.process("first"), scene.process("second")];
    first.call(limit, { bodyMs: 200 });
    await scene.until(50);
    const waiting = second.call(limit, { waitMs: 5_000, bodyMs: 100 });
    await scene.until(2_000);
    const endedMs = waiting.endedMs ?? Infinity;
    // The first one was never denied: its token lay idle for 500 ms, or until it was wanted back.
    expect(waiting.beganMs).toBeLessThan(200 + 500 + 250);
    const later = second.call(limit, { bodyMs: 100 });
    await scene.until((later.endedMs ?? 2_110) + 40);
    expect(await heldOf(scene)).toBe(1);
    await scene.until((later.endedMs ?? Infinity) + 50 + 2 * callMs);
    expect(await heldOf(scene)).toBe(0);
    await scene.until(endedMs + 5_500);
    const last = second.call(limit, { bodyMs: 100 });
    await scene.until(endedMs + 5_500 + 100 + 2 * callMs + 450);
    expect(last.endedMs).not.toBeNull();
    expect(await heldOf(scene)).toBe(1);
  });

  test("withTokens asks soon after a denial, then every half second; under a rate the denial says when", async () => {
    const asksOf = async (limit: CallLimit): Promise<number[]> => {
      const scene = new TokenScene();
      const holder = scene.process("holder");
      for (let count = 0; count < 3; count += 1) holder.call(limit, { bodyMs: 60_000 });
      await scene.until(500);
      const other = scene.process("other");
      other.call(limit, { waitMs: 30_000 });
      const asks: number[] = [];
      for (const untilMs of [1_000, 2_000, 3_000]) {
        const before = other.asked.filter((name) => name === "startExecution").length;
        await scene.until(500 + untilMs);
        asks.push(other.asked.filter((name) => name === "startExecution").length - before);
      }
      return asks;
    };
    const [soon = 0, ...later] = await asksOf({ name: "partner", limit: 0 });
    expect(soon).toBeGreaterThanOrEqual(4);
    expect(soon).toBeLessThanOrEqual(6);
    expect(later).toEqual([2, 2]);
    const rate = { count: 3, periodMs: 60_000, burst: 3 };
    const [first = 0] = await asksOf({ name: "partner", limit: 4, rate });
    expect(first).toBeLessThanOrEqual(2);
  });

  test("withTokens gives tokens back 500 ms after the last body, and the execution ends with the last token", async () => {
    const scene = new TokenScene();
    const { call, asked } = scene.process("one");
    const calls = [call(partner), call(partner, { bodyMs: 1_000 })];
    await scene.until(400);
    expect(await heldOf(scene)).toBe(2);
    await scene.until((calls[0]?.endedMs ?? 0) + 500 + 3 * callMs);
    expect(await heldOf(scene)).toBe(1);
    await scene.until(1_100);
    await scene.until((calls[1]?.endedMs ?? 0) + 490);
    expect(await heldOf(scene)).toBe(1);
    await scene.until((calls[1]?.endedMs ?? 0) + 500 + 3 * callMs);
    expect(await heldOf(scene)).toBe(0);
    expect(asked.filter((name) => name === "finishExecution")).toHaveLength(1);
    expect((await scene.store.listExecutions({ isOpen: true, max: 10 })).executions).toEqual([]);
  });

  test("withTokens takes all tokens that a call wants, or none; a call behind it doesn't overtake", async () => {
    const scene = new TokenScene();
    const { call } = scene.process("one");
    const one = call(partner, { bodyMs: 300 });
    await scene.until(50);
    const both = call(partner, { want: 2, waitMs: 2_000, bodyMs: 100 });
    const behind = call(partner, { waitMs: 2_000 });
    await scene.until(3_000);
    expect(both.beganMs).toBeGreaterThanOrEqual(one.endedMs ?? Infinity);
    expect(behind.beganMs).toBeGreaterThanOrEqual(both.endedMs ?? Infinity);
    const tooMany = call(partner, { want: 3 });
    await scene.until(4_000);
    expect(tooMany.answer).toMatchObject({ ran: false, reason: "limited" });
    await scene.until(6_000);
    expect(await heldOf(scene)).toBe(0);
  });

  test("withTokens throws what the body throws, and the token is free again", async () => {
    const scene = new TokenScene();
    const { pools, call } = scene.process("one");
    const thrown = withTokens(pools, { limit: { name: "partner", limit: 1 } }, () =>
      Promise.reject(new Error("body")),
    ).catch((error: unknown) => error);
    await scene.until(50);
    expect(await thrown).toEqual(new Error("body"));
    expect(call({ name: "partner", limit: 1 }).beganMs).toBe(50);
  });

  test("withTokens refuses one limit with two numbers in one process, and names the field", () => {
    const { pools } = new TokenScene().process("one");
    pools.of(partner);
    expect(pools.of({ name: "partner", limit: 2 })).toBe(pools.of(partner));
    expect(() => pools.of({ name: "partner", limit: 3 })).toThrow(
      "limit: expected 2 (3), as this process uses limit partner with it already",
    );
  });

  test("withTokens without a number has that of another place of the process, in either order", async () => {
    const scene = new TokenScene();
    const { call, pools } = scene.process("one");
    const first = [1, 2].map(() => call({ name: "partner" }, { waitMs: 5_000 }));
    await scene.until(60);
    // Until a place says another number it is 1.
    expect(first.map(({ beganMs }) => beganMs !== null)).toEqual([true, false]);
    const pool = pools.of(partner);
    expect(pools.of({ name: "partner" })).toBe(pool);
    await scene.until(1_500);
    const later = [1, 2, 3].map(() => call({ name: "partner" }, { waitMs: 5_000 }));
    await scene.until(1_560);
    expect(later.map(({ beganMs }) => beganMs !== null)).toEqual([true, true, false]);
    await scene.until(5_000);
    expect(scene.runningMax).toBe(2);
  });

  test("withTokens of bodies that wait for nothing leaves timers and answers their turn", async () => {
    const bench = openWorkerBench([]);
    const pools = new LimitPools(bench.environment, bench.heartbeat);
    let turns = 0;
    let calls = 0;
    // Without a turn of its timers the test would go on for ever.
    const timer = setInterval(() => (turns += 1), 10);
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (turns < 20)
          await withTokens(
            pools,
            { limit: { name: "hot", limit: 2 }, waitMs: 5_000 },
            async () => void (calls += 1),
          );
      }),
    );
    clearInterval(timer);
    // More calls wait than there are tokens. If each waited for a timer of 1 ms, there would be 20 in a turn at most.
    expect(calls / turns).toBeGreaterThan(40);
    await pools.stop();
    expect((await bench.store.listExecutions({ isOpen: true, max: 10 })).executions).toEqual([]);
  });
});

describe("withTokens and the database's news", () => {
  test("withTokens begins nothing on what a lowered limit wants back, from the answer on; running bodies end in peace", async () => {
    const scene = new TokenScene();
    const { call } = scene.process("one");
    const calls = Array.from({ length: 40 }, () =>
      call({ name: "partner", limit: 4 }, { waitMs: 5_000, bodyMs: 60 }),
    );
    await scene.until(200);
    expect(await heldOf(scene)).toBe(4);
    await setLimit(scene, 1);
    await scene.until(200 + 250 + 60 + 2 * callMs);
    expect(await heldOf(scene)).toBe(1);
    scene.runningMax = scene.running;
    await scene.until(1_500);
    expect(scene.runningMax).toBe(1);
    expect(calls.every(({ wasAborted }) => !wasAborted)).toBe(true);
  });

  test("withTokens answers paused within 250 ms of a pause, also to calls that wait, and gives the tokens back", async () => {
    const scene = new TokenScene();
    const { call } = scene.process("one");
    for (let count = 0; count < 2; count += 1) call(partner, { bodyMs: 600 });
    await scene.until(50);
    const waiting = call(partner, { waitMs: 10_000 });
    await scene.store.pauseDefinition({ name: "calls:partner", changedBy: "test" });
    await scene.until(50 + 250 + 2 * callMs);
    expect(waiting.answer).toMatchObject({ ran: false, reason: "paused" });
    await scene.until(1_000);
    expect(await heldOf(scene)).toBe(0);
    const later = call(partner, { waitMs: 10_000 });
    await scene.until(1_020);
    expect(later.answer).toMatchObject({ ran: false, reason: "paused" });
    await scene.store.resumeDefinition({ name: "calls:partner", changedBy: "test" });
    await scene.until(2_000);
    const resumed = call(partner);
    await scene.until(2_200);
    expect(resumed.answer).toMatchObject({ ran: true });
  });

  test("withTokens aborts the bodies of a lost lease, begins no other on it, and asks anew", async () => {
    const scene = new TokenScene();
    let isAway = false;
    const { call, lines, telemetry } = scene.process("one", (store) =>
      overriding(store, {
        heartbeat: (input) =>
          isAway ? Promise.reject(new Error("silent")) : store.heartbeat(input),
      }),
    );
    const short = { name: "partner", limit: 1, leaseMs: 3_000 };
    const lost = call(short, { bodyMs: 60_000 });
    await scene.until(1_000);
    isAway = true;
    const waiting = call(short, { waitMs: 20_000 });
    await scene.until(6_000);
    expect(lost.wasAborted).toBe(true);
    // Trusted for the lease less its margin, from the last renewal on.
    expect(lost.endedMs).toBeGreaterThan(3_000);
    expect(lost.endedMs).toBeLessThan(1_000 + 2_700 + callMs);
    // The body had to settle first: until then the token stays with the lost lease.
    expect(waiting.beganMs).toBeGreaterThan(lost.endedMs ?? Number.POSITIVE_INFINITY);
    expect(lines.map(({ message }) => message)).toContain(
      "the lease of tokens was lost; the bodies were told to stop",
    );
    expect(telemetry.counted).toEqual([
      { name: "taskgate.execution.lost", value: 1, attributes: { definition: "calls:partner" } },
    ]);
    expect(scene.runningMax).toBe(1);
  });

  test("withTokens gives up a lost lease for certain, also when a heartbeat that lay in a silent connection renews it", async () => {
    const scene = new TokenScene();
    const silent = { from: 500, to: 2_900 };
    const isSilent = (): boolean => scene.time.nowMs >= silent.from && scene.time.nowMs < silent.to;
    const away = (): Promise<never> => Promise.reject(new Error("silent"));
    const { call } = scene.process("one", (store) =>
      overriding(store, {
        heartbeat: async (input) => {
          if (!isSilent()) return store.heartbeat(input);
          // It arrives when the server goes on; this process has given the call up by then.
          scene.time.after(silent.to - scene.time.nowMs, () => void store.heartbeat(input));
          return away();
        },
        releaseTokens: (input) => (isSilent() ? away() : store.releaseTokens(input)),
        finishExecution: (input) => (isSilent() ? away() : store.finishExecution(input)),
      }),
    );
    const short = { name: "partner", limit: 2, leaseMs: 3_000 };
    for (let count = 0; count < 2; count += 1) call(short, { bodyMs: 1_000 });
    await scene.until(1_000);
    const other = scene.process("two").call(short, { waitMs: 20_000 });
    await scene.until(20_000);
    expect(other.answer).toMatchObject({ ran: true });
    // The renewed lease would end at 5.9 s.
    expect(other.beganMs).toBeGreaterThan(silent.to);
    expect(other.beganMs).toBeLessThan(4_500);
    expect(scene.runningMax).toBe(2);
  });

  test("withTokens rejects the calls that no token could be asked for, and serves later ones", async () => {
    const scene = new TokenScene();
    let isAway = true;
    const { call } = scene.process("one", (store) =>
      overriding(store, {
        startExecution: (input) =>
          isAway ? Promise.reject(new Error("silent")) : store.startExecution(input),
      }),
    );
    const failed = call(partner, { waitMs: 5_000 });
    await scene.until(50);
    expect(failed.error).toEqual(new Error("silent"));
    isAway = false;
    const later = call(partner, { waitMs: 5_000 });
    await scene.until(700);
    expect(later.answer).toMatchObject({ ran: true });
  });

  test("a stop denies the calls that wait, tells bodies to stop, and gives back what no body runs on", async () => {
    const scene = new TokenScene();
    const { call, pools } = scene.process("one");
    const running = [call(partner, { bodyMs: 50 }), call(partner, { bodyMs: 300 })];
    const waiting = call(partner, { waitMs: 5_000 });
    await scene.until(100);
    // The third began on the token of the first.
    const more = call(partner, { waitMs: 5_000 });
    const stopped = pools.stop();
    await scene.until(110);
    expect(more.answer).toMatchObject({ ran: false, reason: "stopping" });
    await scene.until(1_000);
    await stopped;
    expect([...running, waiting].map(({ answer }) => answer?.ran)).toEqual([true, true, true]);
    expect([...running, waiting].map(({ wasAborted }) => wasAborted)).toEqual([false, true, true]);
    expect(await heldOf(scene)).toBe(0);
    const late = call(partner);
    await scene.until(1_001);
    expect(late.answer).toMatchObject({ ran: false, reason: "stopping" });
  });
});
