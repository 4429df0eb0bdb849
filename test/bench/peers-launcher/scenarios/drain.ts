import type { Reading } from "../results";
import { nowMs } from "../run";
import type { Run } from "../run";
import { rate, usual } from "../scenario";
import type { Scenario } from "../scenario";
import { nothingKeptLabel } from "../variant";
import type { Variant } from "../variant";

/** Until a tenth is done, code is loaded, compiled and planned: it isn't measured. */
const warmShare = 0.1;

/** From a tenth of the tasks to the last one, when all are durably done. */
export async function measureDrain(run: Run, groups = 0): Promise<Reading> {
  const { tasks, lab } = run;
  const mostMs = lab.isQuick ? 15_000 : 60_000;
  await run.client.call("enqueueBulk", { count: tasks, groups, dueAtMs: null });
  await lab.postgres.settle();
  await run.loadWorkers();
  await run.work();
  if (!(await run.untilHandled(tasks * warmShare, mostMs))) return stopped(run, mostMs);
  const endStacks = await run.startStacks();
  const from = run.handled();
  const endCpu = run.startCpu();
  const isDone = (await run.untilHandled(tasks, mostMs)) && (await run.untilDone(10_000));
  const untilMs = nowMs();
  const cpu = endCpu();
  await endStacks();
  const { count } = run.handled();
  if (count > tasks) throw new Error(`${tasks} tasks were enqueued, and ${count} ran`);
  return {
    figures: { rate: ((count - from.count) / (untilMs - from.atMs)) * 1_000 },
    ...cpu,
    tasks: count - from.count,
    note: isDone ? "" : `stopped with ${count} of ${tasks} done`,
  };
}

function stopped(run: Run, mostMs: number): Reading {
  const { count } = run.handled();
  return {
    figures: { rate: (count / mostMs) * 1_000 },
    serverCpuS: null,
    clientsCpuS: null,
    tasks: null,
    note: `stopped with ${count} of ${run.tasks} done`,
  };
}

/** What graphile-worker and BullMQ do: a done task leaves nothing behind. */
const nothingKept = { label: nothingKeptLabel, keeps: false } as const;

const batched: readonly Variant[] = [
  { system: "taskgate", tasks: 300_000 },
  { system: "taskgate", ...nothingKept, tasks: 300_000 },
  { system: "graphile-worker", tasks: 150_000 },
  { system: "pg-boss", tasks: 150_000 },
  { system: "bullmq", tasks: 100_000 },
];

/** In several processes its statements would wait for each other: it is no queue. */
const bareSql: Variant = { system: "bare-sql", tasks: 300_000 };

function drain(name: "drain-1" | "drain-4", processes: number): Scenario {
  const title = `Batched drain, ${processes === 1 ? "one process" : `${processes} processes`}`;
  return {
    ...usual,
    name,
    title,
    about:
      "Empty handlers, each system in its fastest set-up. From a tenth of the tasks until all are durably done.",
    work: "drain",
    processes,
    figures: [rate],
    variants: processes === 1 ? [...batched, bareSql] : batched,
    measure: (run) => measureDrain(run),
  };
}

function strict(name: "in-flight-8" | "in-flight-1", inFlight: number): Scenario {
  const one = inFlight === 1;
  return {
    ...usual,
    name,
    title: `${one ? "Exactly one" : inFlight} in flight`,
    about: `One process runs ${one ? "one task" : `${inFlight} tasks`} at once, and nothing is claimed that can't start at once.`,
    work: "strict",
    inFlight,
    figures: [rate],
    variants: [
      { system: "taskgate", tasks: one ? 8_000 : 40_000 },
      { system: "taskgate", ...nothingKept, tasks: one ? 8_000 : 40_000 },
      { system: "graphile-worker", label: "2 connections", style: "fewest", tasks: 8_000 },
      ...(one
        ? []
        : [{ system: "graphile-worker", label: "9 connections", tasks: 15_000 } as const]),
      { system: "pg-boss", tasks: one ? 4_000 : 8_000 },
      { system: "bullmq", tasks: one ? 10_000 : 40_000 },
      { system: "bare-sql", tasks: one ? 10_000 : 40_000 },
    ],
    measure: (run) => measureDrain(run),
  };
}

const ahead: Scenario = {
  ...usual,
  name: "ahead-8",
  title: "8 at once, claiming ahead",
  about:
    "One process runs 8 tasks at once and may hold as many more. Taskgate with its default of one task beyond each token; graphile-worker with a local queue and completions in batches, as its documentation advises to begin with. pg-boss: batches of 8. BullMQ claims nothing ahead.",
  work: "strict",
  inFlight: 8,
  figures: [rate],
  variants: [
    { system: "taskgate", style: "batching", tasks: 60_000 },
    { system: "taskgate", style: "batching", ...nothingKept, tasks: 60_000 },
    { system: "graphile-worker", style: "batching", tasks: 40_000 },
    { system: "pg-boss", style: "batching", tasks: 20_000 },
    { system: "bullmq", style: "batching", tasks: 40_000 },
    { system: "bare-sql", style: "batching", tasks: 60_000 },
  ],
  measure: (run) => measureDrain(run),
};

const groupCount = 10_000;

export const drains: readonly Scenario[] = [drain("drain-1", 1), drain("drain-4", 4)];
export const inFlights: readonly Scenario[] = [
  strict("in-flight-8", 8),
  strict("in-flight-1", 1),
  ahead,
];

export const groups: Scenario = {
  ...usual,
  name: "groups",
  title: "10,000 groups",
  about:
    "Empty handlers, one task of a group at a time, tasks spread evenly. graphile-worker: a named queue per group (its documentation advises against so many). pg-boss: `groupConcurrency` 1. BullMQ has groups in its paid edition only.",
  work: "groups",
  figures: [rate],
  variants: [
    { system: "taskgate", tasks: 100_000 },
    { system: "taskgate", ...nothingKept, tasks: 100_000 },
    { system: "graphile-worker", tasks: 100_000 },
    { system: "pg-boss", tasks: 100_000 },
    { system: "bullmq", tasks: 0, lacks: "groups are part of its paid edition" },
  ],
  measure: (run) => measureDrain(run, groupCount),
};
