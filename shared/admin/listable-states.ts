import type { ListableState } from "../ports/task-store";

/** States that a list of tasks can be asked for, in the order in which a task goes through them. */
export const listableStates = [
  "ready",
  "scheduled",
  "waiting",
  "claimed",
  "done",
  "dead",
  "cancelled",
] as const satisfies readonly ListableState[];
