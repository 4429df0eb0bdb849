import { describe, expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../shared/core/errors";
import { sleep } from "../../../shared/platform/real-clock";
import { createRegistry } from "../../../shared/worker/define/registry";
import { defineTask } from "../../../shared/worker/define/define-task";
import { promoteDue } from "../../../shared/worker/run/promote-due";
import { sweepOnce } from "../../../shared/worker/run/sweep";
import { openWorkerBench, overriding } from "./worker-bench";
import type { WorkerBench } from "./worker-bench";

/* Many tasks are due at once: a claim makes 256 of them ready, and the sweep the others. */

const kind = defineTask<{ n: number }>({ name: "late", run: async () => undefined });
const other = defineTask({ name: "other", run: async () => undefined });

async function addDue(bench: WorkerBench, count: number): Promise<void> {
  const payloads = Array.from({ length: count }, (_, n) => ({ n }));
  await bench.client.enqueueMany(kind, payloads, { runInMs: 1 });
  await sleep(20);
}

async function placesOf({ store }: WorkerBench): Promise<{ ready: number; due: boolean }> {
  const { definitions } = await store.sweep({ max: 10 });
  const { ready = 0, due = false } = definitions.find(({ name }) => name === "late") ?? {};
  return { ready, due };
}

const sweep = { withUpkeep: false } as const;

describe("due tasks", () => {
  test("a sweep makes all of them ready", async () => {
    const bench = openWorkerBench([kind]);
    await addDue(bench, 1_200);

    await sweepOnce(bench.environment, createRegistry([kind]), sweep);

    expect((await placesOf(bench)).due).toBe(false);
    const { tasks } = await bench.store.listTasks({ name: "late", state: "scheduled", max: 1 });
    expect(tasks).toEqual([]);
  });

  test("a sweep leaves those of another app's definitions alone", async () => {
    const bench = openWorkerBench([kind]);
    await addDue(bench, 3);

    await sweepOnce(bench.environment, createRegistry([other]), sweep);

    expect((await placesOf(bench)).due).toBe(true);
  });

  test("a slice that fails is logged, and the next definition has its turn", async () => {
    const asked: string[] = [];
    const bench = openWorkerBench([kind], {
      wrap: (store) =>
        overriding(store, {
          promoteScheduled: ({ name }) => {
            asked.push(name);
            if (name === "away") return Promise.reject(new StoreUnavailableError("gone"));
            return Promise.resolve({
              status: "promoted",
              promoted: 500,
              nextDueMs: asked.length < 4 ? 0 : 7_000,
              ready: true,
            });
          },
        }),
    });
    const facts = { ready: 0, free: 1, crowdedOut: false, paused: false };
    const definitions = [
      { ...facts, name: "away", due: true },
      { ...facts, name: "idle", due: false },
      { ...facts, name: "late", due: true },
    ];

    await promoteDue(bench.environment, definitions, Number.POSITIVE_INFINITY);
    expect(asked).toEqual(["away", "late", "late", "late"]);
    expect(bench.lines).toContainEqual({
      level: "warn",
      message: "due tasks were not made ready; claims and the next sweep go on",
      fields: { definition: "away", error: "gone" },
    });

    await promoteDue(bench.environment, definitions, 0);
    expect(asked).toHaveLength(4);
  });
});
