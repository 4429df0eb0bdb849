import { expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../shared/core/errors";
import type { RollUpStatisticsAnswer } from "../../../shared/ports/task-store";
import { rollUpStatistics } from "../../../shared/worker/run/statistics";
import { openWorkerBench, overriding } from "./worker-bench";

const part: RollUpStatisticsAnswer = { status: "rolled", executions: 9, deleted: 0, more: true };

/** Over a store that answers so, slice after slice. */
async function rollUpWith(answers: readonly (RollUpStatisticsAnswer | Error)[], maxMs = 1_000) {
  let calls = 0;
  const { environment, lines } = openWorkerBench([], {
    wrap: (store) =>
      overriding(store, {
        rollUpStatistics: async () => {
          const answer = answers[Math.min(calls, answers.length - 1)];
          calls += 1;
          if (answer === undefined) throw new Error("there is no further answer");
          if (answer instanceof Error) throw answer;
          return answer;
        },
      }),
  });
  await rollUpStatistics(environment, environment.clock.monotonicMs() + maxMs);
  return { calls, lines };
}

test("slices are added up until nothing is left", async () => {
  const { calls, lines } = await rollUpWith([part, part, { ...part, more: false }]);
  expect(calls).toBe(3);
  expect(lines).toEqual([]);
});

test("the time is over: the rest is the next sweep's", async () => {
  const { calls } = await rollUpWith([part], 20);
  expect(calls).toBeGreaterThan(0);
});

test("a slice that fails is logged, and nothing is thrown", async () => {
  const { calls, lines } = await rollUpWith([new StoreUnavailableError("the database is away")]);
  expect(calls).toBe(1);
  expect(lines).toMatchObject([{ level: "warn", fields: { error: "the database is away" } }]);
});
