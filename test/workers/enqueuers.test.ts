import { describe, expect, test } from "@jest/globals";
import { playEnqueues } from "./enqueuers";
import type { EnqueueScene, Enqueuer } from "./enqueuers";

/*
 * Goal: an enqueue causes no invocation without a free token, and leaves no task unseen. Method: the shipped worker and the
 * shipped hints in virtual time; each hint is an invocation in a process of its own. No sweep runs.
 */
const programs: readonly Enqueuer[] = ["API and command line", "clients and tasks"];

const long: EnqueueScene = {
  by: "clients and tasks",
  limit: 1,
  tasks: 40,
  everyMs: 250,
  taskMs: 60_000,
  arrivesWithinMs: 200,
  seed: 1,
  lastsMs: 30_000,
};

describe.each(programs)("invocations by tasks of %s", (by) => {
  test("forty tasks beside a long one that holds the only token cause one invocation", async () => {
    expect(await playEnqueues({ ...long, by })).toMatchObject({ invocations: 1, begun: 1 });
  });

  test.each([100, 1_000, 3_000])(
    "forty long tasks cause as many invocations as tokens are free, hints that take up to %i ms",
    async (arrivesWithinMs) => {
      for (const limit of [2, 4, 7]) {
        const { invocations, begun, heldMax } = await playEnqueues({
          ...long,
          by,
          limit,
          arrivesWithinMs,
        });
        expect({ limit, heldMax, begun }).toEqual({ limit, heldMax: limit, begun: limit });
        expect(invocations).toBeLessThanOrEqual(limit);
      }
    },
  );

  test("a task of a paused definition causes no invocation, and is found when it is resumed", async () => {
    const change = { name: "import", changedBy: "an operator" };
    const played = await playEnqueues({
      ...long,
      by,
      operator: [
        { atMs: -1, act: async (store) => void (await store.pauseDefinition(change)) },
        {
          atMs: 15_000,
          act: async (store, wakeUp) => {
            const { ready } = await store.resumeDefinition(change);
            if (ready) await wakeUp.hint("import");
          },
        },
      ],
    });
    expect(played).toMatchObject({ invocations: 1, begun: 1 });
    expect(played.waitedMaxMs).toBeGreaterThan(14_000);
  });
});

describe("a task that finds no token free", () => {
  test.each([1, 2, 3, 4, 5, 6])(
    "a task is found by the execution that ends, whenever it was added, seed %i",
    async (seed) => {
      // Tasks and pauses are alike: many are added while an execution ends.
      const played = await playEnqueues({
        ...long,
        seed,
        limit: 2,
        tasks: 300,
        everyMs: 97,
        taskMs: 150,
        lastsMs: 60_000,
        processes: 3,
      });
      expect(played.begun).toBe(300);
      expect(played.waitedMaxMs).toBeLessThan(2_000);
    },
  );

  test("a task is found where others held a shared limit for long, and few invocations asked meanwhile", async () => {
    const played = await playEnqueues({
      ...long,
      limit: 4,
      tasks: 20,
      shared: { limit: 1, heldMs: 3_000 },
      taskMs: 100,
      lastsMs: 40_000,
    });
    expect(played.begun).toBe(20);
    expect(played.heldMax).toBe(1);
    expect(played.invocations).toBeLessThanOrEqual(8);
  });

  test("tasks of a rate without a limit begin at its pace", async () => {
    const played = await playEnqueues({
      ...long,
      limit: null,
      perSecond: 5,
      tasks: 40,
      everyMs: 100,
      taskMs: 50,
      lastsMs: 60_000,
    });
    expect(played.begun).toBe(40);
  });

  test("tasks of a rate with a limit begin at its pace, and hints stay within the tokens", async () => {
    const played = await playEnqueues({
      ...long,
      limit: 2,
      perSecond: 5,
      tasks: 40,
      everyMs: 100,
      taskMs: 50,
      lastsMs: 60_000,
    });
    expect(played).toMatchObject({ begun: 40 });
    expect(played.heldMax).toBeLessThanOrEqual(2);
  });
});
