import type { NewTask } from "../../../shared/ports/task-store";
import type { EnqueuedTask } from "./call";
import type { Side } from "./side";

/** Tasks as a store takes them. */
export function newTasks(side: Side, tasks: readonly EnqueuedTask[]): NewTask[] {
  return tasks.map(({ runAtMs, ...task }) =>
    runAtMs === undefined ? task : { ...task, runAt: new Date(side.startMs + runAtMs) },
  );
}
