import { sleep } from "../../../../shared/platform/real-clock";
import { overlap } from "../overlap";
import { quantile } from "../results";
import type { Reading } from "../results";
import { nowMs } from "../run";
import type { Run } from "../run";
import { rate, usual } from "../scenario";
import type { Scenario } from "../scenario";

const taskMs = 20;
const warmMs = 2_000;

async function measureLimit(run: Run): Promise<Reading> {
  const { lab, conditions, variant } = run;
  const { limit } = conditions;
  const windowMs = lab.isQuick ? 4_000 : 10_000;
  // More than can be done before it ends.
  const count = Math.ceil(((windowMs + 4 * warmMs) / taskMs) * limit);
  await run.client.call("enqueueBulk", { count, groups: 0, dueAtMs: null });
  await lab.postgres.settle();
  await run.loadWorkers();
  await run.work();
  if (!(await run.untilHandled(1, 10_000))) throw new Error("no task ran within 10 s");
  await sleep(warmMs);
  const endStacks = await run.startStacks();
  const fromMs = nowMs();
  const endCpu = run.startCpu();
  await sleep(windowMs);
  const untilMs = nowMs();
  const cpu = endCpu();
  await endStacks();
  const seen = await run.seen();
  const begins = seen.flatMap((each) => each.begins);
  const ends = seen.flatMap((each) => each.ends);
  const within = ends.filter((end) => end >= fromMs && end < untilMs).length;
  const all = overlap({ begins, ends }, limit);
  const inWindow = overlap(
    {
      begins: begins.filter((at) => at >= fromMs && at < untilMs),
      ends: ends.filter((at) => at >= fromMs && at < untilMs),
    },
    limit,
  );
  const figures = {
    rate: (within / (untilMs - fromMs)) * 1_000,
    nominal: (within * taskMs) / (limit * (untilMs - fromMs)),
    violations: all.violations,
    atMost: all.atMost,
    idleP50: quantile(inWindow.idleMs, 0.5),
    idleP99: quantile(inWindow.idleMs, 0.99),
  };
  if (variant.system !== "bare") return { figures, ...cpu, tasks: within, note: "" };
  const commits = await lab.postgres.commitTimesMs(300);
  return {
    figures: { ...figures, commit: quantile(commits, 0.5) },
    serverCpuS: null,
    clientsCpuS: cpu.clientsCpuS,
    tasks: within,
    note: "",
  };
}

function limited(name: "limit-4" | "limit-16", limit: number): Scenario {
  return {
    ...usual,
    name,
    title: `Limit ${limit} over three processes`,
    about: `Tasks of ${taskMs} ms by a timer; tasks finished in a fixed window are counted. The ideal is what plain loops without a queue finish. graphile-worker: ${limit} named queues, each of which runs one job at a time. pg-boss: \`groupConcurrency\` of one group. BullMQ: \`setGlobalConcurrency\`.`,
    work: "limit",
    processes: 3,
    limit,
    taskMs,
    figures: [
      rate,
      { name: "nominal", title: `of ${taskMs} ms a task`, unit: "share", better: "more" },
      { name: "violations", title: "violations", unit: "tasks", better: "less" },
      { name: "atMost", title: "at once", unit: "tasks", better: "neither" },
      { name: "idleP50", title: "a token idles, p50", unit: "ms", better: "less" },
      { name: "idleP99", title: "p99", unit: "ms", better: "less" },
      { name: "commit", title: "a round trip with a commit", unit: "ms", better: "neither" },
    ],
    variants: [
      { system: "bare", label: "the ideal", tasks: 0 },
      { system: "taskgate", tasks: 0 },
      { system: "graphile-worker", tasks: 0 },
      { system: "pg-boss", tasks: 0 },
      { system: "bullmq", tasks: 0 },
    ],
    measure: measureLimit,
  };
}

export const limitScenarios: readonly Scenario[] = [limited("limit-4", 4), limited("limit-16", 16)];
