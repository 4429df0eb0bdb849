import { nextInstants } from "./cron-schedules";
import { nextPermitMs } from "./rates";
import { hasReady, limitOf } from "./rows";
import { sharedLimitOf, sharedLimitsOf } from "./shared-tokens";
import type { DefinitionRow, Memory } from "./state";

/**
 * Milliseconds until time alone lets something happen that can't happen yet: a task or a schedule is due, a rate has its next
 * permit, a lease ends. Above 0; what is due by now and still waits, such as a paused task, doesn't count. null: nothing comes.
 */
export function nextInstantMs(memory: Memory): number | null {
  const { scheduled, executions, definitions } = memory.state;
  const comingMs = [
    ...scheduled.map((row) => Math.ceil(row.runAtMs - memory.nowMs)),
    ...nextInstants(memory).map((schedule) => schedule.inMs),
    // At the last instant of its lease a worker still lives.
    ...[...executions.values()]
      .filter((row) => row.state === "live")
      .map((row) => Math.floor(row.leaseUntilMs - memory.nowMs) + 1),
    ...[...definitions.values()]
      .filter((row) => hasReady(memory.state, row) && mayGrant(memory, row))
      .map((row) => nextPermitMs(memory, row) ?? 0),
  ];
  const nextMs = comingMs.reduce(
    (least, inMs) => (inMs > 0 && inMs < least ? inMs : least),
    Infinity,
  );
  return nextMs === Infinity ? null : nextMs;
}

/** Without a token no permit is of use. */
function mayGrant({ state }: Memory, definition: DefinitionRow): boolean {
  const limits = [limitOf(definition), ...sharedLimitsOf(state, definition).map(sharedLimitOf)];
  return !definition.isPaused && !limits.includes(0);
}
