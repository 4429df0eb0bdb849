import type { Reading } from "../results";
import { nowMs } from "../run";
import type { Run } from "../run";
import { rate, usual } from "../scenario";
import type { Scenario, Variant } from "../scenario";

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
  const from = run.handled();
  const endCpu = run.startCpu();
  const isDone = (await run.untilHandled(tasks, mostMs)) && (await run.untilDone(10_000));
  const untilMs = nowMs();
  const { count } = run.handled();
  if (count > tasks) throw new Error(`${tasks} tasks were enqueued, and ${count} ran`);
  return {
    figures: { rate: ((count - from.count) / (untilMs - from.atMs)) * 1_000 },
    ...endCpu(),
    note: isDone ? "" : `stopped with ${count} of ${tasks} done`,
  };
}

function stopped(run: Run, mostMs: number): Reading {
  const { count } = run.handled();
  return {
    figures: { rate: (count / mostMs) * 1_000 },
    serverCpuS: null,
    clientsCpuS: null,
    note: `stopped with ${count} of ${run.tasks} done`,
  };
}

const batched: readonly Variant[] = [
  { system: "taskgate", tasks: 300_000 },
  { system: "graphile-worker", tasks: 150_000 },
  { system: "pg-boss", tasks: 150_000 },
  { system: "bullmq", tasks: 100_000 },
];

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
    variants: batched,
    measure: (run) => measureDrain(run),
  };
}

function strict(name: "in-flight-8" | "in-flight-1", inFlight: number): Scenario {
  const connections = `${inFlight + 1} connections`;
  return {
    ...usual,
    name,
    title: `${inFlight === 1 ? "Exactly one" : inFlight} in flight`,
    about: `One process runs ${inFlight === 1 ? "one task" : `${inFlight} tasks`} at once. Except with a local queue, no task is claimed that can't start.`,
    work: "strict",
    inFlight,
    figures: [rate],
    variants: [
      { system: "taskgate", tasks: inFlight === 1 ? 8_000 : 40_000 },
      { system: "graphile-worker", label: "2 connections", style: "fewest", tasks: 8_000 },
      ...(inFlight === 1
        ? []
        : [
            {
              system: "graphile-worker",
              label: connections,
              style: "best",
              tasks: 15_000,
            } as const,
          ]),
      { system: "graphile-worker", label: "local queue", style: "batching", tasks: 20_000 },
      { system: "pg-boss", tasks: 8_000 },
      { system: "bullmq", tasks: inFlight === 1 ? 10_000 : 40_000 },
    ],
    measure: (run) => measureDrain(run),
  };
}

const groupCount = 10_000;

export const drains: readonly Scenario[] = [drain("drain-1", 1), drain("drain-4", 4)];
export const inFlights: readonly Scenario[] = [strict("in-flight-8", 8), strict("in-flight-1", 1)];

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
    { system: "graphile-worker", tasks: 100_000 },
    { system: "pg-boss", tasks: 100_000 },
    { system: "bullmq", tasks: 0, lacks: "groups are part of its paid edition" },
  ],
  measure: (run) => measureDrain(run, groupCount),
};
