import type { ExecutionId } from "../../core/ids";
import type { Token } from "../../core/token";
import type { Model } from "./state";

/**
 * Does a holder live? At the very instant at which its lease ends it does (S0.7); without a row it
 * doesn't (S0.8).
 */
export function isAlive(model: Model, holder: string): boolean {
  const execution = model.state.executions.get(holder as ExecutionId);
  return execution?.state === "live" && execution.leaseUntilMs >= model.nowMs;
}

/** Its writes are fenced from now on; what it claimed waits for reclaim_expired. */
export function declareDead(model: Model, holder: string): void {
  const execution = model.state.executions.get(holder as ExecutionId);
  if (execution?.state !== "live") return;
  execution.state = "dead";
  execution.endedAtMs ??= model.nowMs;
  execution.tokenCount = 0;
}

/** Tokens held by live executions, and the time until the first of their leases ends; null: nobody holds one. */
export function liveUse(
  model: Model,
  tokens: readonly Token[],
): { count: number; retryInMs: number | null } {
  const leasesLeftMs = tokens
    .filter((token) => token.isHeld && isAlive(model, token.grantee))
    .map((token) => {
      const execution = model.state.executions.get(token.grantee as ExecutionId);
      return (execution?.leaseUntilMs ?? model.nowMs) - model.nowMs;
    });
  return {
    count: leasesLeftMs.length,
    retryInMs: leasesLeftMs.length === 0 ? null : Math.round(Math.min(...leasesLeftMs)) + 1,
  };
}
