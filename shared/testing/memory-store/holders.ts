import type { ExecutionNumber } from "../../core/ids";
import type { Token } from "../../core/token";
import { setTokenCount } from "./execution-totals";
import type { ExecutionRow, Memory } from "./state";

/** The execution that a token names. */
export function holderOf({ state }: Memory, grantee: string): ExecutionRow | undefined {
  return state.executions.get(grantee as ExecutionNumber);
}

/**
 * Does a holder live? At the very instant at which its lease ends it does; without a row it
 * doesn't.
 */
export function isAlive(memory: Memory, holder: string): boolean {
  const execution = holderOf(memory, holder);
  return execution?.state === "live" && execution.leaseUntilMs >= memory.nowMs;
}

/** Its writes are fenced from now on; what it claimed waits for reclaim_expired. */
export function declareDead(memory: Memory, holder: string): void {
  const execution = holderOf(memory, holder);
  if (execution?.state !== "live") return;
  execution.state = "dead";
  execution.endedAtMs ??= memory.nowMs;
  setTokenCount(memory, execution, 0);
}

/** Tokens held by live executions, and the time until the first of their leases ends; null: no execution holds one. */
export function liveUse(
  memory: Memory,
  tokens: readonly Token[],
): { count: number; retryInMs: number | null } {
  const leasesLeftMs = tokens
    .filter((token) => token.isHeld && isAlive(memory, token.grantee))
    .map(({ grantee }) => (holderOf(memory, grantee)?.leaseUntilMs ?? memory.nowMs) - memory.nowMs);
  return {
    count: leasesLeftMs.length,
    retryInMs: leasesLeftMs.length === 0 ? null : Math.round(Math.min(...leasesLeftMs)) + 1,
  };
}
