import { describe, expect, test } from "@jest/globals";
import { createStorageQueueWakeUp } from "../../../shared/platform/storage-queue-wake-up";
import type { LogFields, Logger } from "../../../shared/ports/logger";
import type { Timers } from "../../../shared/ports/timers";

/** A clock that moves when told, and timers that fire on the way. */
function createTime(): {
  clock: { nowMs(): number; monotonicMs(): number };
  timers: Timers;
  advance(ms: number): Promise<void>;
} {
  let nowMs = 0;
  const pending: { atMs: number; callback: () => void }[] = [];
  return {
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    timers: {
      after: (ms, callback) => {
        pending.push({ atMs: nowMs + ms, callback });
        return () => undefined;
      },
      soon: (callback) => {
        callback();
      },
    },
    advance: async (ms) => {
      nowMs += ms;
      for (const timer of pending.splice(0)) {
        if (timer.atMs <= nowMs) timer.callback();
        else pending.push(timer);
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

function setup() {
  const time = createTime();
  const sent: [string, number][] = [];
  const warnings: LogFields[] = [];
  const failures: Error[] = [];
  const ignore = (): void => undefined;
  const logger: Logger = {
    debug: ignore,
    info: ignore,
    warn: (_, fields = {}) => warnings.push(fields),
    error: ignore,
  };
  const queue = {
    send: (text: string, delaySeconds: number): Promise<void> => {
      const failure = failures.shift();
      if (failure !== undefined) return Promise.reject(failure);
      sent.push([text, delaySeconds]);
      return Promise.resolve();
    },
  };
  const wakeUp = createStorageQueueWakeUp({
    queue,
    logger,
    clock: time.clock,
    timers: time.timers,
  });
  return { wakeUp, sent, warnings, failures, time };
}

describe("hints at once", () => {
  test("a hint says the definition, and the trace where there is one", async () => {
    const { wakeUp, sent } = setup();

    await wakeUp.hint("a");
    await wakeUp.hint("b", { traceParent: "00-1-2-01" });

    expect(sent).toEqual([
      ['{"taskDefinition":"a"}', 0],
      ['{"taskDefinition":"b","traceParent":"00-1-2-01"}', 0],
    ]);
  });

  test("hints within 200 ms become one more at their end: work enqueued after the first is announced, too", async () => {
    const { wakeUp, sent, time } = setup();
    await wakeUp.hint("a");

    const others = [wakeUp.hint("a"), wakeUp.hint("a"), wakeUp.hint("a")];
    await time.advance(100);
    expect(sent).toHaveLength(1);
    await time.advance(100);
    await Promise.all(others);
    expect(sent).toHaveLength(2);

    await time.advance(200);
    await wakeUp.hint("a");
    expect(sent).toHaveLength(3);
  });

  test("hints that fail are logged, never thrown, and don't silence the next", async () => {
    const { wakeUp, sent, failures, warnings } = setup();
    failures.push(new Error("403"));

    await wakeUp.hint("a");
    await wakeUp.hint("a");

    expect(warnings).toEqual([{ definition: "a", reason: "403" }]);
    expect(sent).toHaveLength(1);
  });
});

describe("delayed hints", () => {
  test("delayed hints are rounded up to seconds and cut at 6 days", async () => {
    const { wakeUp, sent } = setup();

    await wakeUp.hint("a", { inMs: 1 });
    await wakeUp.hint("b", { inMs: 1_001 });
    await wakeUp.hint("c", { inMs: 400 * 86_400_000 });

    expect(sent.map(([, delaySeconds]) => delaySeconds)).toEqual([1, 2, 518_400]);
  });

  test("delayed hints wait for the pending one, unless they come earlier by more than 1 s", async () => {
    const { wakeUp, sent, time } = setup();

    await wakeUp.hint("a", { inMs: 60_000 });
    await wakeUp.hint("a", { inMs: 90_000 });
    await wakeUp.hint("a", { inMs: 59_000 });
    await wakeUp.hint("a", { inMs: 30_000 });
    await wakeUp.hint("a", { inMs: 40_000 });
    expect(sent.map(([, delaySeconds]) => delaySeconds)).toEqual([60, 30]);

    await time.advance(30_000);
    await wakeUp.hint("a", { inMs: 40_000 });
    expect(sent).toHaveLength(3);
  });

  test("delayed hints don't stand in for one at once", async () => {
    const { wakeUp, sent } = setup();

    await wakeUp.hint("a", { inMs: 1_000 });
    await wakeUp.hint("a");

    expect(sent.map(([, delaySeconds]) => delaySeconds)).toEqual([1, 0]);
  });
});
