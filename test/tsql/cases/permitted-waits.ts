import type { PermittedWait } from "./model-case";

/*
 * Every wait that the lock order permits, by its level. A case lists those that may happen in it; any other is a fault.
 * With row versions off plain reads wait as well, which each case lists apart.
 */

/** Level 0. */
export const operationRow: PermittedWait = {
  table: "Operation",
  why: "a repeat of an operation waits for the first call's answer",
};

/** Level 1. */
export const sharedRow: PermittedWait = {
  table: "SharedLimit",
  why: "whoever changes tokens of definitions that share a limit does so one after the other",
};

/** Level 3b. */
export const rateRow: PermittedWait = {
  table: "RateBucket",
  why: "a change of a rate waits for the claim that counts by it; claims skip",
};

/** Level 2. */
export const definitionRow: PermittedWait = {
  table: "TaskDefinition",
  why: "whoever changes tokens or settings of one definition does so one after the other",
};

/** Behind everything: a call that waits for it or reads it holds no other row that a call waits for behind it. */
export const demandRow: PermittedWait = {
  table: "TokenDemand",
  why: "who notes a denial waits for the end of one look at the row; looks step over it",
};

/** Likewise; a giving call holds the shared limit's row, and a denial waits for nothing. */
export const sharedDemandRow: PermittedWait = {
  table: "SharedTokenDemand",
  why: "who notes a denial or gives for it waits for the end of one look at the row, or of one note; looks step over it",
};

/** Behind the definition and its schedules: the last lock of each call that takes it. */
export const stopRow: PermittedWait = {
  table: "Stop",
  why: "calls that make a definition or a schedule, and a stop's begin and end, look one after the other",
};

/** Behind the definition. */
export const scheduleRow: PermittedWait = {
  table: "Schedule",
  why: "the code's and an operator's changes of a schedule come one after the other, and behind who fires it",
};

/** Level 3. */
export const executionRow: PermittedWait = {
  table: "TaskExecution",
  why: "calls of one execution come one after the other; an asker looks at its own under the definition's row",
};

/** Levels 0, 6 and 7 are entered through locks on keys, which may have no row yet. */
export const latch: PermittedWait = {
  table: "application lock",
  why: "equal operation ids, watermarks, dedupe keys and new groups exclude each other",
};

/** Level 6. */
export const dedupeKey: PermittedWait = {
  table: "Dedupe",
  why: "an enqueue waits for the end of the key's task, or for an equal key",
};

/** Level 7. */
export const groupRow: PermittedWait = {
  table: "TaskGroup",
  why: "a group's slots and waiters change one after the other",
};

/** Level 8. */
export const shardRow: PermittedWait = {
  table: "WaveShard",
  why: "the counters of a wave change one after the other",
};

/** Level 9. */
export const waveRow: PermittedWait = {
  table: "Wave",
  why: "who ends the last task of a shard counts it down in the wave",
};

/** Level 10. */
export const batchRow: PermittedWait = {
  table: "Batch",
  why: "a batch is started, halted, cancelled or goes on: one after the other",
};

/** A request to cancel is a plain UPDATE in the cases, as there is no procedure yet. */
export const cancelledTask: PermittedWait = {
  table: "Task",
  why: "the statement that stands in for a cancel doesn't skip",
};

/** Level 5, last: a task whose end is asked for while it ends. */
export const requestedTask: PermittedWait = {
  table: "Task",
  why: "an end waits for a request on the task's row, which is the last thing that a cancel does",
};

/** A wait that only one of the callers may do: the other one skips, or doesn't come there. */
export function only(caller: number, wait: PermittedWait): PermittedWait {
  return { ...wait, by: caller };
}
