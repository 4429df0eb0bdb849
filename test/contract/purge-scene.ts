import type { PurgeAnswer, TaskStore } from "../../shared/ports/task-store";

/* What the tests of the purge share. */

export const dayMs = 86_400_000;

/** The answer of a purge that found nothing. */
export const nothingPurged: PurgeAnswer = {
  status: "none",
  purged: 0,
  tasks: 0,
  executions: 0,
  operations: 0,
  keys: 0,
  groups: 0,
  batches: 0,
  auditEntries: 0,
  more: false,
};

/** Whether the sweep says that there is something to purge. */
export async function isPurgeable(store: TaskStore): Promise<boolean> {
  return (await store.sweep({ max: 10 })).isPurgeable;
}
