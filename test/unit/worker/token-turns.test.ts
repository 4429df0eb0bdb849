import { describe, expect, test } from "@jest/globals";
import { asOperationId } from "../../../shared/core/ids";
import type { CallLimits } from "../../../shared/worker/run/call-limits";
import { createSeededRandom } from "../../../shared/testing/seeded-random";
import { callMs, TokenScene } from "./token-scene";
import type { Call, CallingProcess } from "./token-scene";
import { fewOf } from "../../support/whole";

/* Goal: a limit below the number of busy processes is shared out in turns, also where calls follow each other without a pause. */
const one = { name: "one", limit: 1 };
const bodyMs = 20;

/** Calls that follow each other from two callers until that instant; all that were made so far. */
function keepCalling(
  scene: TokenScene,
  of: { process: CallingProcess; limits: CallLimits; untilMs: number },
): Call[] {
  const calls: Call[] = [];
  const next = (): void => {
    if (scene.time.nowMs >= of.untilMs) return;
    const call = of.process.call(of.limits, { waitMs: 60_000, bodyMs });
    calls.push(call);
    const look = (): void => {
      if (call.answer === null) scene.time.after(4, look);
      else next();
    };
    look();
  };
  next();
  next();
  return calls;
}

/** One caller that wants two tokens each time, and tries again soon after a denial. */
function keepCallingForTwo(
  scene: TokenScene,
  of: { process: CallingProcess; limits: CallLimits; untilMs: number },
): Call[] {
  const calls: Call[] = [];
  const next = (): void => {
    if (scene.time.nowMs >= of.untilMs) return;
    const call = of.process.call(of.limits, { want: 2, waitMs: 300, bodyMs: 60 });
    calls.push(call);
    const look = (): void => {
      if (call.answer === null) scene.time.after(4, look);
      else scene.time.after(12, next);
    };
    look();
  };
  next();
  return calls;
}

function countRan(calls: readonly Call[]): number {
  return calls.filter(({ answer }) => answer?.ran).length;
}

/** The longest time in which none of the calls began. */
function longestPauseMs(calls: readonly Call[]): number {
  const began = calls.flatMap(({ beganMs }) => beganMs ?? []).sort((a, b) => a - b);
  return Math.max(...began.slice(1).map((ms, index) => ms - (began[index] ?? 0)));
}

describe("the last token of a limit", () => {
  test.each(fewOf([3, 2, 5]))(
    "withTokens passes it on between %i busy processes, and seldom lets it idle",
    async (count) => {
      const scene = new TokenScene();
      const untilMs = 30_000;
      const all = Array.from({ length: count }, (_, index) =>
        keepCalling(scene, {
          process: scene.process(`process ${String(index)}`),
          limits: one,
          untilMs,
        }),
      );
      await scene.until(untilMs + 10_000);
      const ran = all.map(countRan);
      const sum = ran.reduce((total, each) => total + each, 0);
      expect(scene.runningMax).toBe(1);
      expect(sum).toBeGreaterThan((0.85 * untilMs) / bodyMs);
      for (const each of ran) expect(each / sum).toBeGreaterThan(0.5 / count);
      // A turn each: a denial is noted once a second, and the holder hears of it within 250 ms.
      for (const calls of all) expect(longestPauseMs(calls)).toBeLessThan(count * 3_000);
    },
  );

  test("withTokens keeps it without an idle moment while no other process asks", async () => {
    const scene = new TokenScene();
    const process = scene.process("alone");
    const calls = keepCalling(scene, { process, limits: one, untilMs: 20_000 });
    await scene.until(30_000);
    expect(countRan(calls)).toBeGreaterThanOrEqual(20_000 / (bodyMs + 2));
    expect(process.asked.filter((name) => name === "releaseSurplus")).toEqual([]);
  });

  test("withTokens passes it on between two lists of limits in one process", async () => {
    const scene = new TokenScene();
    const process = scene.process("both");
    const untilMs = 20_000;
    const lists = [
      [one, { name: "left", limit: 2 }],
      [{ name: "right", limit: 2 }, one],
    ];
    const all = lists.map((limits) => keepCalling(scene, { process, limits, untilMs }));
    await scene.until(untilMs + 5_000);
    const [left = 0, right = 0] = all.map(countRan);
    expect(Math.min(left, right) / (left + right)).toBeGreaterThan(0.3);
    expect(scene.runningMax).toBe(1);
  });

  test("withTokens that has given its last token ends its execution when no call waits any more", async () => {
    const scene = new TokenScene();
    const first = scene.process("first");
    first.call(one, { bodyMs: 1_000 });
    await scene.until(50);
    const second = scene.process("second").call(one, { waitMs: 10_000, bodyMs: 5_000 });
    await scene.until(1_600);
    expect(second.beganMs).toBeLessThan(1_600);
    expect(first.asked.at(-1)).toBe("finishExecution");
    const { executions } = await scene.store.listExecutions({ isOpen: true, max: 10 });
    expect(executions.map(({ worker }) => worker)).toEqual(["second"]);
  });

  test("withTokens ends its execution when an operator has taken all of its tokens", async () => {
    const scene = new TokenScene();
    const { call, asked } = scene.process("first");
    call(one, { bodyMs: 400 });
    await scene.until(50);
    await scene.store.setSharedLimit({
      name: one.name,
      limit: 0,
      operationId: asOperationId(createSeededRandom(3).uuid()),
      changedBy: "test",
    });
    await scene.until(450 + 500 + 10 * callMs);
    expect(asked.at(-1)).toBe("finishExecution");
    const beats = asked.length;
    await scene.until(10_000);
    expect(asked).toHaveLength(beats);
  });
});

describe("calls that want two tokens", () => {
  test.each([
    [2, 3],
    [4, 3],
  ])(
    "withTokens under a limit of %i lets none of %i processes sit on one token while it waits for the other",
    async (limit, count) => {
      const scene = new TokenScene();
      const untilMs = 60_000;
      const all = Array.from({ length: count }, (_, index) =>
        keepCallingForTwo(scene, {
          process: scene.process(`process ${String(index)}`),
          limits: { name: "pairs", limit },
          untilMs,
        }),
      );
      await scene.until(untilMs + 10_000);
      const ran = all.map(countRan);
      const sum = ran.reduce((total, each) => total + each, 0);
      expect(scene.runningMax).toBe(Math.floor(limit / 2));
      // Where each kept its part: 392 under a limit of 2, and under one of 4 most calls were one process's.
      expect(sum).toBeGreaterThan(300 * limit);
      for (const each of ran) expect(each / sum).toBeGreaterThan(0.2 / count);
      for (const calls of all) expect(longestPauseMs(calls)).toBeLessThan(30_000);
    },
  );
});
