import type { TaskStore } from "../ports/task-store";
import type { WakeUp } from "../ports/wake-up";

/** What actions of operators are made with. */
export interface AdminTools {
  readonly store: TaskStore;
  readonly wakeUp: WakeUp;
  /** Told how many tasks were handed to the store, duplicates included. */
  readonly onEnqueued?: (tasks: number) => void;
}

/** The author of a change, for the audit: at most 200 characters. */
export interface Actor {
  readonly changedBy: string;
}

/** A call about one definition: an input of the store, which calls it `name`. */
export type OfDefinition<Input extends { name: string } = { name: string }> = Omit<
  Input,
  "name"
> & {
  readonly definition: string;
};

/** A change that may be repeated by its id; left out: it is made here. */
export type Repeatable<Input extends { operationId: string }> = Omit<Input, "operationId"> & {
  readonly operationId?: string;
};

/** One hint for each definition that got work. */
export async function hintAll(wakeUp: WakeUp, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => wakeUp.hint(name)));
}
