import type { Reading } from "../results";
import type { Run } from "../run";
import { rate, usual } from "../scenario";
import type { Scenario } from "../scenario";
import { serverCpuS } from "../server-cpu";

const warmCount = 500;

/** The same calls before, so that code is loaded and plans are made. */
async function measureEnqueue(run: Run, name: "enqueueBulk" | "enqueueSingly"): Promise<Reading> {
  const { client, tasks, lab, variant } = run;
  const enqueue = (count: number): Promise<{ ms: number; cpuMs: number }> =>
    name === "enqueueSingly"
      ? client.call(name, { count })
      : client.call(name, { count, groups: 0, dueAtMs: null });
  const warm = name === "enqueueSingly" ? warmCount : 10_000;
  await enqueue(warm);
  await lab.postgres.settle();
  const server = variant.system === "bullmq" ? lab.redis : lab.postgres;
  const endStacks = await run.startStacks([client]);
  const before = serverCpuS(server?.pid ?? 0);
  const { ms, cpuMs } = await enqueue(tasks);
  const after = serverCpuS(server?.pid ?? 0);
  await endStacks();
  const { count } = await client.call("unfinished", {});
  if (count !== warm + tasks)
    throw new Error(`${warm + tasks} tasks were enqueued, and ${count} are there`);
  return {
    figures: { rate: (tasks / ms) * 1_000 },
    serverCpuS: before === null || after === null ? null : after - before,
    clientsCpuS: cpuMs / 1_000,
    tasks,
    note: "",
  };
}

export const enqueues: readonly Scenario[] = [
  {
    ...usual,
    name: "bulk-enqueue",
    title: "Bulk enqueue, 10,000 a call",
    about: "`enqueueMany`, `addJobs`, `insert` and `addBulk`, one call after the other, no worker.",
    work: "drain",
    figures: [rate],
    variants: [
      { system: "taskgate", tasks: 200_000 },
      { system: "graphile-worker", tasks: 200_000 },
      { system: "pg-boss", tasks: 200_000 },
      { system: "bullmq", tasks: 100_000 },
      { system: "bare-sql", tasks: 200_000 },
    ],
    measure: (run) => measureEnqueue(run, "enqueueBulk"),
  },
  {
    ...usual,
    name: "single-enqueue",
    title: "Enqueue one by one, 8 callers",
    about:
      "`enqueue`, `addJob`, `send` and `add`, a task a call, eight at once in one process, no worker. On PostgreSQL a pool of 8 connections, pg-boss 10; BullMQ sends all on one.",
    work: "drain",
    callers: 8,
    figures: [rate],
    variants: [
      { system: "taskgate", tasks: 20_000 },
      { system: "graphile-worker", tasks: 20_000 },
      { system: "pg-boss", tasks: 20_000 },
      { system: "bullmq", tasks: 20_000 },
      { system: "bare-sql", tasks: 20_000 },
    ],
    measure: (run) => measureEnqueue(run, "enqueueSingly"),
  },
];
