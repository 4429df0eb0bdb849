import type { Grain, StatisticPeriod, TaskStore } from "../../shared/ports/task-store";

/** A definition's periods, at most sixty. */
export async function periodsOf(
  store: TaskStore,
  name: string,
  grain: Grain = 1,
): Promise<StatisticPeriod[]> {
  return (await store.readStatistics({ name, grain, max: 60 })).periods;
}

/** A count of all periods together. */
export function sumOf(
  periods: readonly StatisticPeriod[],
  member: "claimed" | "done" | "failed" | "dead" | "lost" | "ranMs" | "heldMs",
): number {
  return periods.reduce((sum, period) => sum + period[member], 0);
}

/** How long tasks ran, as all periods of this length tell it: buckets with their tasks, in order. */
export async function ranOf(
  store: TaskStore,
  name: string,
  grain: Grain = 1,
): Promise<[bucket: number, tasks: number][]> {
  const totals = new Map<number, number>();
  for (const { ran } of await periodsOf(store, name, grain))
    for (const [bucket, count] of ran) totals.set(bucket, (totals.get(bucket) ?? 0) + count);
  return [...totals].sort(([left], [right]) => left - right);
}

/** Until nothing is left, as the sweep does it. */
export async function rollUp(store: TaskStore): Promise<void> {
  while ((await store.rollUpStatistics({ max: 1_000 })).more);
}
