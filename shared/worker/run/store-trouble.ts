import type { TaskId } from "../../core/ids";
import { isOutage } from "../../core/outage";
import type { TaskStore } from "../../ports/task-store";

/**
 * A task that met a database that can't now has not failed: it comes back uncounted, later each time. The bound is of this
 * process: a task that meets trouble each time, while the database takes the news of it, may well be its cause.
 */

/** Pauses before the first return, the second and so on; the last one stays. */
const pausesMs = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000] as const;
/** Returns of one task in a row; the next trouble counts as its failure. */
const returnsMax = 15;
/** Tasks that are kept in mind; the oldest goes. */
const tasksMax = 10_000;

const returnsByStore = new WeakMap<TaskStore, Map<TaskId, number>>();

/**
 * How long a task that failed by `error` is kept away, in milliseconds; null when it counts as a failure: it isn't the
 * store's trouble, or it is for the sixteenth time.
 */
export function returnInMs(store: TaskStore, taskId: TaskId, error: unknown): number | null {
  if (!isOutage(error)) return null;
  const returns = returnsByStore.get(store) ?? new Map<TaskId, number>();
  returnsByStore.set(store, returns);
  const count = returns.get(taskId) ?? 0;
  returns.delete(taskId);
  if (count >= returnsMax) return null;
  returns.set(taskId, count + 1);
  const [oldest] = returns.keys();
  if (returns.size > tasksMax && oldest !== undefined) returns.delete(oldest);
  return pausesMs[Math.min(count, pausesMs.length - 1)] ?? 0;
}
