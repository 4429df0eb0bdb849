import type { ExecutionRow, ExecutionTotals, Memory } from "./state";

/** Nothing counted yet. */
export const noTotals: ExecutionTotals = {
  claimed: 0,
  done: 0,
  failed: 0,
  dead: 0,
  lost: 0,
  ranMs: 0,
  heldMs: 0,
};

/** The one way to another count of tokens: how long the ones before were held is added up. */
export function setTokenCount(memory: Memory, execution: ExecutionRow, count: number): void {
  execution.totals.heldMs = heldMs(memory, execution);
  execution.tokensAtMs = memory.nowMs;
  execution.tokenCount = count;
}

/** Tokens times milliseconds, until now. */
export function heldMs(memory: Memory, { totals, tokenCount, tokensAtMs }: ExecutionRow): number {
  return totals.heldMs + tokenCount * (memory.nowMs - tokensAtMs);
}
