import { expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../shared/core/errors";
import { sleep } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { defineTask } from "../../../shared/worker/define/define-task";
import { enqueueOne, openWorkerBench, overriding } from "./worker-bench";

/* The store repeats a call while the database is away: the lease that its last attempt grants counts from that one. */

const leaseMs = 1_000;
const awayMs = 1_300;

/** The first ask for tokens is repeated for longer than a lease. */
const away = (store: TaskStore): TaskStore => {
  let isAway = true;
  return overriding(store, {
    startExecution: async (input) => {
      if (isAway) await sleep(awayMs);
      isAway = false;
      return store.startExecution(input);
    },
  });
};

test("A worker whose ask for tokens took longer than a lease runs its task at once", async () => {
  let runs = 0;
  const task = defineTask({
    name: "steady",
    limit: 1,
    leaseMs,
    run: async () => void (runs += 1),
  });
  const bench = openWorkerBench([task], { wrap: away });
  await enqueueOne(bench, task);
  expect(await bench.work("steady")).toMatchObject({ status: "worked", end: "idle" });
  expect(runs).toBe(1);
  expect(bench.lines.filter(({ level }) => level === "warn")).toEqual([]);
});

test("A late grant that can't be renewed is as lost as it was", async () => {
  const task = defineTask({ name: "steady", leaseMs, run: async () => undefined });
  const heartbeat = () => Promise.reject(new StoreUnavailableError("away again"));
  const bench = openWorkerBench([task], {
    wrap: (store) => overriding(away(store), { heartbeat }),
  });
  await enqueueOne(bench, task);
  expect(await bench.work("steady")).toMatchObject({ status: "worked", end: "lost" });
});
