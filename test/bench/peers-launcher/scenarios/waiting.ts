import { sleep } from "../../../../shared/platform/real-clock";
import { quantile } from "../results";
import type { Reading } from "../results";
import { nowMs } from "../run";
import type { Run } from "../run";
import { usual } from "../scenario";
import type { Scenario } from "../scenario";
import type { Variant } from "../variant";

/**
 * The first tasks of each process load and compile code, and its connection plans their statements. On a slow computer they
 * take up to 75 ms with Taskgate and 30 ms with its peers. So many reach every process, also where they are spread unevenly.
 */
const warmCount = 400;
/** Of a process that is idle afterwards. */
const idleWarmCount = 20;
/** For the tasks of one trickle. */
const trickleMs = 60_000;

const variants: readonly Variant[] = [
  { system: "taskgate", tasks: 1_000 },
  { system: "graphile-worker", tasks: 1_000 },
  { system: "pg-boss", tasks: 1_000 },
  { system: "bullmq", tasks: 1_000 },
];

async function measureLatency(run: Run): Promise<Reading> {
  await run.loadWorkers();
  await run.work();
  // Start-up is over, and the last look for old tasks.
  await sleep(3_000);
  await run.client.call("trickle", { count: warmCount });
  if (!(await run.untilHandled(warmCount, trickleMs)))
    throw new Error("the first tasks didn't run");
  const warm = (await run.seen()).map(({ waitsMs }) => waitsMs.length);
  const endCpu = run.startCpu();
  await run.client.call("trickle", { count: run.tasks });
  if (!(await run.untilHandled(warmCount + run.tasks, trickleMs)))
    throw new Error(`${run.handled().count - warmCount} of ${run.tasks} tasks ran`);
  const cpu = endCpu();
  const seen = await run.seen();
  const waits = seen.flatMap(({ waitsMs }, index) => waitsMs.slice(warm[index]));
  const figures = {
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    max: Math.max(...waits),
  };
  return { figures, ...cpu, tasks: run.tasks, note: "" };
}

/** What an idle process costs: statements of a shorter time, as many times as it fits into an hour. */
async function measureIdle(run: Run): Promise<Reading> {
  const { lab, variant } = run;
  const idleMs = lab.isQuick ? 5_000 : 120_000;
  const read = async (): Promise<number> =>
    variant.system === "bullmq"
      ? ((await lab.redis?.commands()) ?? 0)
      : (await lab.postgres.statements()).calls;
  await run.loadWorkers();
  await run.work();
  await run.client.call("trickle", { count: idleWarmCount });
  if (!(await run.untilHandled(idleWarmCount, trickleMs)))
    throw new Error("the first tasks didn't run");
  await run.endClient();
  await sleep(lab.isQuick ? 3_000 : 15_000);
  const before = await read();
  const startedMs = nowMs();
  const endCpu = run.startCpu();
  await sleep(idleMs);
  const cpu = endCpu();
  // The question itself is a command of Redis.
  const own = variant.system === "bullmq" ? 1 : 0;
  const perHour = ((await read()) - before - own) * (3_600_000 / (nowMs() - startedMs));
  return {
    figures: {
      statements: perHour,
      serverCpu: (cpu.serverCpuS ?? Number.NaN) * (3_600_000 / idleMs),
    },
    ...cpu,
    tasks: null,
    note: "",
  };
}

export const latency: Scenario = {
  ...usual,
  name: "latency",
  title: "Latency with 8 waiting workers",
  about:
    "Eight processes wait, each for one task at a time. A task comes every 10 to 30 ms; from before its enqueue to its handler. The first 400 tasks aren't measured: they warm the processes. pg-boss with LISTEN and NOTIFY.",
  work: "wait",
  processes: 8,
  limit: 8,
  figures: [
    { name: "p50", title: "p50", unit: "ms", better: "less" },
    { name: "p99", title: "p99", unit: "ms", better: "less" },
    { name: "max", title: "longest", unit: "ms", better: "less" },
  ],
  variants,
  measure: measureLatency,
};

export const idle: Scenario = {
  ...usual,
  name: "idle",
  title: "An idle hour",
  about:
    "One process as in the scenario of latency, with nothing to do: statements that its connections send in 120 s, times 30. For BullMQ commands of Redis; a blocking one counts once.",
  work: "wait",
  counts: true,
  roundsMax: 1,
  figures: [
    {
      name: "statements",
      title: "statements per hour",
      unit: "statements per hour",
      better: "less",
    },
    { name: "serverCpu", title: "server's CPU", unit: "s per hour", better: "less" },
  ],
  variants,
  measure: measureIdle,
};
