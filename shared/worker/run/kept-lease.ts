import type { ExecutionId } from "../../core/ids";
import type { LeaseTrust } from "../../core/lease";
import type { WorkerEnvironment } from "../environment";

/**
 * Notes renewals from beside the event loop, before the trust is asked for: after a block the timer that looks at the
 * trust is first in line, before any heartbeat.
 */
export function renewByKeeper(
  { leaseKeeper }: Pick<WorkerEnvironment, "leaseKeeper">,
  executionId: ExecutionId,
  trust: LeaseTrust,
): void {
  const renewal = leaseKeeper?.renewalOf(executionId);
  if (renewal != null) trust.renew(renewal.sentAt, renewal.leaseMs);
}
