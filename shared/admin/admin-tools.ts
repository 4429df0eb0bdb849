import type { TaskStore } from "../ports/task-store";
import type { WakeUp } from "../ports/wake-up";

/** What actions of operators are made with. */
export interface AdminTools {
  readonly store: TaskStore;
  readonly wakeUp: WakeUp;
  /** Told how many tasks were handed to the store, duplicates included. */
  readonly onEnqueued?: (tasks: number) => void;
}

/** One hint for each definition that got work. */
export async function hintAll(wakeUp: WakeUp, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => wakeUp.hint(name)));
}
