import { expect, test } from "@jest/globals";
import { define, done, enqueue, startWorker } from "../support/builders";
import { useContention } from "../support/use-contention";
import { periodsOf, rollUp, sumOf } from "./statistic-periods";

/* A round of the statistics beside workers, on real locks: what it counts is what it remembers. */
const scene = useContention();

test.each([
  ["a task ends", false],
  ["a task and its execution end", true],
])(
  "each task is counted once, although %s between the statements of a round",
  async (_, isLast) => {
    const store = scene.openStore(3);
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 4 });
    const [first, second, third, fourth] = await worker.claim(4);
    if (!first || !second || !third || !fourth) throw new Error("expected four tasks");
    await worker.work({ done: [done(first)] });
    await rollUp(store);
    await worker.work({ done: [done(second)] });
    const gate = await scene.connect();
    await gate.query("begin");
    // The round has read the executions when it meets this row.
    await gate.query("select 1 from taskgate.statistic for update");
    const round = store.rollUpStatistics({ max: 1_000 });
    await scene.untilWaiting(1);
    await worker.work({ done: [done(third)] });
    if (isLast) await worker.work({ done: [done(fourth)] });
    if (isLast) await worker.finish();
    await gate.query("rollback");
    expect(await round).toMatchObject({ status: "rolled" });
    for (let count = 0; count < 2; count += 1) {
      await scene.advance(11_000);
      await rollUp(store);
    }
    expect(sumOf(await periodsOf(store, name), "done")).toBe(isLast ? 4 : 3);
  },
);
