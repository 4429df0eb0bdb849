import { sleep } from "../../../../shared/platform/real-clock";
import type { Reading } from "../results";
import { nowMs } from "../run";
import type { Run } from "../run";
import { usual } from "../scenario";
import type { Scenario } from "../scenario";

/** Loading goes on at no less than so many tasks a second; the rest is for workers to start. */
const loadPerS = 6_000;
const startMs = 6_000;

async function measureScheduled(run: Run): Promise<Reading> {
  const { tasks, lab, variant } = run;
  const mostMs = lab.isQuick ? 20_000 : 120_000;
  const leadMs = startMs + (tasks / loadPerS) * 1_000;
  const dueMs = nowMs() + leadMs;
  const dueAtMs = Date.now() + leadMs;
  await run.client.call("enqueueBulk", { count: tasks, groups: 0, dueAtMs });
  await lab.postgres.settle();
  await run.loadWorkers();
  await run.work();
  if (nowMs() > dueMs - 1_000) throw new Error("loading took too long: tasks were due before");
  await sleep(Math.max(0, dueMs - 500 - nowMs()));
  if (run.handled().count > 0) throw new Error("tasks ran before they were due");
  await lab.postgres.forgetStatements();
  const endCpu = run.startCpu();
  const isDone = (await run.untilHandled(tasks, mostMs)) && (await run.untilDone(10_000));
  const seconds = (nowMs() - dueMs) / 1_000;
  const { count } = run.handled();
  if (count > tasks) throw new Error(`${tasks} tasks were enqueued, and ${count} ran`);
  const { allMs, claimCalls, claimMs } = await lab.postgres.statements();
  const isCounted = variant.system !== "bullmq" && claimCalls > 0;
  return {
    figures: {
      seconds: isDone ? seconds : Number.NaN,
      claim: isCounted ? claimMs / claimCalls : Number.NaN,
      perTask: isCounted ? (allMs * 1_000) / count : Number.NaN,
    },
    ...endCpu(),
    tasks: count,
    note: isDone ? "" : `stopped with ${count} of ${tasks} done`,
  };
}

export const scheduled: Scenario = {
  ...usual,
  name: "scheduled",
  title: "100,000 scheduled tasks due at once",
  about:
    "One process waits, as in the drain. From the instant until all are durably done. By pg_stat_statements: a claim is the statement that took the most time in all, which with Taskgate completes tasks, too. graphile-worker and pg-boss poll every 500 ms here.",
  work: "scheduled",
  counts: true,
  figures: [
    { name: "seconds", title: "until all are done", unit: "s", better: "less" },
    { name: "claim", title: "a claim", unit: "ms", better: "neither" },
    { name: "perTask", title: "all statements, per task", unit: "µs", better: "less" },
  ],
  variants: [
    { system: "taskgate", tasks: 100_000 },
    { system: "graphile-worker", tasks: 100_000 },
    { system: "pg-boss", tasks: 100_000 },
    { system: "bullmq", tasks: 100_000 },
  ],
  measure: measureScheduled,
};
