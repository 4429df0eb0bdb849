import type { NewTask } from "../../../shared/ports/task-store";
import type { Side } from "./side";

/** As NewTask, with the instant counted from the history's start. */
export type EnqueuedTask = Omit<NewTask, "runAt"> & { readonly runAtMs?: number };

/** Tasks as a store takes them. */
export function newTasks(side: Side, tasks: readonly EnqueuedTask[]): NewTask[] {
  return tasks.map(({ runAtMs, ...task }) =>
    runAtMs === undefined ? task : { ...task, runAt: new Date(side.startMs + runAtMs) },
  );
}
