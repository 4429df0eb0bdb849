import { expect } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";

/** Redrives them, which are all dead or cancelled; definitions that got ready tasks. */
export async function redriven(store: TaskStore, ...taskIds: readonly TaskId[]): Promise<string[]> {
  const { results, woken } = await store.redriveTasks({ taskIds });
  expect(results.map(({ outcome }) => outcome)).toEqual(taskIds.map(() => "redriven"));
  return woken;
}
