/** States that a list of tasks can be asked for, in the order in which a task goes through them. */
export const listableStates = [
  "ready",
  "scheduled",
  "waiting",
  "claimed",
  "done",
  "dead",
  "cancelled",
] as const;

/** What a list says of a claimed task isn't asked for by its own word. */
export const standingsNote = "running, prefetched and lost tasks are claimed ones";

/** One of them. */
export type ListableState = (typeof listableStates)[number];

/** Has a task in this state ended? Only a redrive brings it back. */
export function isEndState(state: string): state is "done" | "dead" | "cancelled" {
  return state === "done" || state === "dead" || state === "cancelled";
}
