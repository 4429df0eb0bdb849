import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { InvalidArgumentError, StoreContractError } from "../../shared/core/errors";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import { sendEach } from "../../shared/worker/run/send-each";
import { overriding } from "../unit/worker/worker-bench";
import { neighbourMs, playScene } from "./scene";

/** What passes the worker's own checks, but not this store's. */
const refusedValue = { isRefused: true };
const isIn = (text: string | null): boolean => text?.includes("isRefused") ?? false;

/** The store in memory that also refuses one value, with `error`. */
function strictStore(error: () => Error): TaskStore {
  const store = new MemoryTaskStore({
    clock: { now: () => realClock.nowMs() },
    random: realRandom,
  });
  return overriding(store, {
    work: async (input) => {
      if (input.done.some(({ result }) => isIn(result))) throw error();
      return store.work(input);
    },
    failTasks: async (input) => {
      if (input.failures.some(({ checkpoint }) => isIn(checkpoint))) throw error();
      return store.failTasks(input);
    },
  });
}

const refusal = () => new InvalidArgumentError("result: this store takes no such value");
const untouched = { state: "done", attempts: 0, runs: 1, executions: 1 };

describe("a call that the store refuses", () => {
  test("a completion that is refused fails its own task; the five that rode with it complete", async () => {
    const end = await playScene(strictStore(refusal), "refused-result", {
      run: () => sleep(neighbourMs).then(() => refusedValue),
    });
    expect(end.neighbours).toEqual(Array.from({ length: 5 }, () => untouched));
    expect(end.culprit).toMatchObject({ state: "dead", failedCount: 1, lostCount: 0 });
    expect(end.culprit.error).toBe(
      "the store refused how this task ended: result: this store takes no such value",
    );
  });

  test("a checkpoint that is refused counts as a failure of its own task", async () => {
    const end = await playScene(strictStore(refusal), "refused-checkpoint", {
      run: (ctx) => sleep(neighbourMs).then(() => ctx.checkpoint(refusedValue)),
    });
    expect(end.neighbours).toEqual(Array.from({ length: 5 }, () => untouched));
    expect(end.culprit).toMatchObject({ state: "dead", failedCount: 2 });
    expect(end.culprit.error).toMatch(/^the store refused how this task ended/);
  });

  test("an execution that breaks for another reason counts what it had started, with that reason", async () => {
    const broken = () => new StoreContractError("the answer was no row");
    const end = await playScene(strictStore(broken), "broken-execution", {
      run: () => refusedValue,
    });
    expect(end.culprit).toMatchObject({ state: "dead", failedCount: 2 });
    expect(end.culprit.error).toBe(
      "its execution failed before the end of this task was told: the answer was no row",
    );
    for (const { attempts, runs } of end.neighbours) {
      expect(attempts).toBeLessThanOrEqual(2);
      expect(runs).toBeLessThanOrEqual(3);
    }
  });
});

describe("sendEach", () => {
  test("for any refused entries, all others are sent once, in few calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 200 }), async (isBad) => {
        const entries = isBad.map((bad, at) => ({ bad, at }));
        let calls = 0;
        const taken: number[] = [];
        const sent = await sendEach(entries, refusal(), async (part) => {
          calls += 1;
          if (part.some(({ bad }) => bad)) throw refusal();
          taken.push(...part.map(({ at }) => at));
          return Promise.resolve();
        });
        const good = entries.filter(({ bad }) => !bad).map(({ at }) => at);
        // The first call, which was refused, had them all: a single entry is to blame by itself.
        expect(taken).toEqual(entries.length === 1 ? [] : good);
        if (entries.length > 1)
          expect(sent.refused.map(({ entry }) => entry.at)).toEqual(
            entries.filter(({ bad }) => bad).map(({ at }) => at),
          );
        const bads = Math.max(entries.length - good.length, 1);
        expect(calls).toBeLessThanOrEqual(2 * bads * (Math.ceil(Math.log2(entries.length)) + 1));
        expect(sent.unsent).toEqual([]);
      }),
    );
  });

  test("an entry that fails for another reason is handed back, and so are those after it", async () => {
    const failure = new StoreContractError("the store is broken");
    const sent = await sendEach([1, 2, 3, 4], refusal(), (part) =>
      part.includes(3) ? Promise.reject(failure) : Promise.resolve("taken"),
    );
    expect(sent).toEqual({
      answers: [{ entries: [1, 2], answer: "taken" }],
      refused: [],
      unsent: [3, 4],
      failure,
    });
  });
});
