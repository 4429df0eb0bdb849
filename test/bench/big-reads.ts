import { createAdmin } from "../../shared/admin/create-admin";
import type { Admin } from "../../shared/admin/create-admin";
import { asTaskId } from "../../shared/core/ids";
import type { TaskId } from "../../shared/core/ids";
import type { NewTask } from "../../shared/ports/task-store";
import { at, define, done, enqueue, failure, startWorker } from "../support/builders";
import { openBench } from "./bench-environment";
import type { Bench } from "./bench-environment";
import { quantile } from "./measurement";
import type { BenchScenario, Measurement } from "./measurement";

/*
 * What people look at, over a database that has grown: a million tasks of 200 definitions, nine in ten of them in the archive, 5,000
 * groups. Each figure is one read of the dashboard and the command line, as the API answers it.
 */

const goalMs = 100;
const callMax = 1_000;
const looks = 40;

/** Counts at full size; smaller runs have less of everything but definitions. */
interface Size {
  readonly definitions: number;
  readonly groups: number;
  readonly archived: number;
  readonly dead: number;
  readonly unfinished: number;
}

async function fill(bench: Bench, size: Size): Promise<{ name: string; task: TaskId }> {
  const { store } = bench.environment;
  const names: string[] = [];
  for (let number = 0; number < size.definitions; number += 1)
    names.push(await define(store, { limit: 16, prefetchMax: 62 }, `definition-${number}`));
  const busiest = at(names, 0);
  // Half of all belongs to one definition: its lists are the longest.
  const share = (count: number, index: number): number =>
    Math.ceil(index === 0 ? count / 2 : count / 2 / (size.definitions - 1));
  for (const [index, name] of names.entries()) {
    await finish(bench, name, {
      done: share(size.archived - size.dead, index),
      dead: share(size.dead, index),
    });
    await enqueueInPieces(bench, { name, count: share(size.unfinished, index) }, (piece) =>
      piece % 2 === 0 ? { group: `g${String(piece % size.groups)}` } : {},
    );
  }
  await store.rollUpStatistics({ max: callMax });
  const { tasks } = await store.listTasks({ name: busiest, state: "ready", max: 1 });
  return { name: busiest, task: asTaskId(at(tasks, 0).task) };
}

async function enqueueInPieces(
  { environment: { store } }: Bench,
  { name, count }: { readonly name: string; readonly count: number },
  toTask: (index: number) => Partial<NewTask>,
): Promise<void> {
  for (let from = 0; from < count; from += 10_000)
    await enqueue(
      store,
      name,
      Array.from({ length: Math.min(10_000, count - from) }, (_, index) => toTask(from + index)),
    );
}

/** So many of a definition end well, and so many die of one of a hundred errors. */
async function finish(
  bench: Bench,
  name: string,
  counts: { readonly done: number; readonly dead: number },
): Promise<void> {
  const { store } = bench.environment;
  await enqueueInPieces(bench, { name, count: counts.done + counts.dead }, () => ({}));
  const worker = await startWorker(store, name, { want: 16 });
  for (let left = counts.done; left > 0; left -= callMax) {
    const claimed = await worker.claim(Math.min(left, callMax));
    await worker.work({ done: claimed.map((task) => done(task, { durationMs: 20 })) });
  }
  for (let left = counts.dead; left > 0; left -= callMax) {
    const claimed = await worker.claim(Math.min(left, callMax));
    const failures = claimed.map((task, index) =>
      failure(task, { as: "dead", error: `Error: partner ${String(index % 100)}x is away` }),
    );
    if (failures.length > 0) await store.failTasks({ executionId: worker.executionId, failures });
  }
  await worker.finish();
}

const states = ["ready", "scheduled", "waiting", "claimed", "done", "dead", "cancelled"] as const;

function readsOf(
  admin: Admin,
  { name, task }: { readonly name: string; readonly task: TaskId },
): Readonly<Record<string, () => Promise<unknown>>> {
  return {
    status: () => admin.status(),
    definitions: () => admin.definitions(),
    definition: () => admin.definitions(name),
    ...Object.fromEntries(
      states.map((state) => [
        `tasks, ${state}`,
        () => admin.tasks({ definition: name, states: [state], max: 100 }),
      ]),
    ),
    explain: () => admin.explain(task),
    "failures of all": () => admin.failures({ max: 20 }),
    "failures of one": () => admin.failures({ definition: name, max: 20 }),
    groups: () => admin.groups({ name, max: 100 }),
    executions: () => admin.executions({ isOpen: false, max: 100 }),
    pace: () => admin.pace(name),
    statistics: () => admin.statistics({ definition: name, window: "week" }),
    "statistics of all": () => admin.summaries(),
    schedules: () => admin.schedules({ max: 100 }),
    batches: () => admin.batches({ max: 20 }),
    audit: () => admin.audit({ max: 100 }),
    stop: () => admin.stopState(),
  };
}

/** A figure per read: the time that 95 of 100 looks take at most. `--only bigReads`. */
export const bigReads: BenchScenario = async (url, scale): Promise<Measurement[]> => {
  const bench = openBench(url, []);
  const part = scale.backlog / 1_000_000;
  const target = await fill(bench, {
    definitions: 200,
    groups: Math.ceil(5_000 * part),
    archived: 900_000 * part,
    dead: 20_000 * part,
    unfinished: 100_000 * part,
  });
  const { store, random, timers, wakeUp, build } = bench.environment;
  const admin = createAdmin({ store, random, timers, wakeUp, build });
  const measurements: Measurement[] = [];
  for (const [read, look] of Object.entries(readsOf(admin, target))) {
    const times: number[] = [];
    for (let count = 0; count < looks; count += 1) {
      const startedMs = performance.now();
      await look();
      times.push(performance.now() - startedMs);
    }
    measurements.push({
      scenario: `big reads, 1,000,000 tasks: ${read}, p95`,
      unit: "ms",
      value: quantile(times, 0.95),
      isLessBetter: true,
      goal: goalMs,
    });
  }
  await bench.close();
  return measurements;
};
