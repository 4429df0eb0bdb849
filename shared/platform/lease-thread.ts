import type { MessagePort } from "node:worker_threads";
import { limits } from "../core/limits";
import type { ExecutionId } from "../core/ids";
import type { KeptExecution } from "../ports/lease-keeper";
import type { TaskStore } from "../ports/task-store";

/** What the thread of the event loop says. */
export type LeaseOrder =
  | { readonly kind: "keep"; readonly execution: KeptExecution }
  /** The event loop turns, but its own renewal waits: now, unless it was just tried. */
  | { readonly kind: "renew"; readonly executionIds: readonly ExecutionId[] }
  | { readonly kind: "release"; readonly executionId: ExecutionId };

/** What the thread of the leases says. Instants are `process.hrtime`, the same in all threads, and the wall clock, in ms. */
export interface ThreadRenewal {
  readonly executionId: ExecutionId;
  readonly sentHrMs: number;
  readonly sentWallMs: number;
  readonly leaseMs: number;
}

/** What it is made of. */
export interface LeaseThreadOptions {
  readonly store: Pick<TaskStore, "heartbeat">;
  /** Its first entry grows while the event loop turns. */
  readonly turns: Int32Array;
  readonly orders: MessagePort;
  readonly renewals: MessagePort;
  /** The event loop has been blocked for longer than any lease is renewed. Called once per block. */
  readonly onHung: (blockedMs: number) => void;
}

/** How often the thread looks, ms: often enough for the shortest lease. */
const lookMs = 100;

/** Milliseconds of the clock that all threads share. */
export function hrMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/**
 * Renews leases while the event loop makes no progress: from a third of the lease on, three times per lease, until one bound for
 * all. While the event loop turns its own heartbeat renews, and this does what that asks for.
 */
export function runLeaseThread(options: LeaseThreadOptions): void {
  const kept = new Map<ExecutionId, { execution: KeptExecution; triedAtMs: number }>();
  options.orders.on("message", (order: LeaseOrder) => {
    if (order.kind === "release") kept.delete(order.executionId);
    else if (order.kind === "keep")
      kept.set(order.execution.executionId, { execution: order.execution, triedAtMs: 0 });
    else renewAll(options, order.executionIds.filter(isFree));
  });
  /** Not tried within the last third of its lease; from now on it is. */
  const isFree = (executionId: ExecutionId): boolean => {
    const entry = kept.get(executionId);
    const nowMs = hrMs();
    if (entry === undefined || nowMs - entry.triedAtMs < entry.execution.leaseMs / 3) return false;
    entry.triedAtMs = nowMs;
    return true;
  };
  let turns = -1;
  let turnedAtMs = hrMs();
  let isHung = false;
  setInterval(() => {
    const nowMs = hrMs();
    const seen = Atomics.load(options.turns, 0);
    if (seen !== turns || kept.size === 0) {
      turns = seen;
      turnedAtMs = nowMs;
      isHung = false;
      return;
    }
    const blockedMs = nowMs - turnedAtMs;
    const executions = [...kept.values()];
    const maxMs = boundMs(executions.map(({ execution }) => execution));
    const due = executions.filter(({ execution, triedAtMs }) => {
      const thirdMs = execution.leaseMs / 3;
      return blockedMs < maxMs && blockedMs >= thirdMs && nowMs - triedAtMs >= thirdMs;
    });
    for (const entry of due) entry.triedAtMs = nowMs;
    renewAll(
      options,
      due.map(({ execution }) => execution.executionId),
    );
    if (!isHung && blockedMs >= maxMs) {
      isHung = true;
      options.onHung(blockedMs);
    }
  }, lookMs);
}

/**
 * For how long leases are renewed: limits.blockedLeasesMax leases, or the longest time-out and the grace, if that is less. Of the
 * executions that run handlers, as one of these blocks; which one isn't known, so the one that may take longest counts for all.
 * Were a shorter lease given up before, its task would run elsewhere while its handler may be the one that computes here.
 */
export function boundMs(executions: readonly KeptExecution[]): number {
  const busy = executions.filter(({ running }) => Atomics.load(running, 0) > 0);
  const bounds = (busy.length > 0 ? busy : executions).map(({ leaseMs, timeoutMs }) =>
    Math.min(
      limits.blockedLeasesMax * leaseMs,
      (timeoutMs ?? Number.POSITIVE_INFINITY) + limits.timeoutGraceMs,
    ),
  );
  return Math.max(...bounds);
}

function renewAll(options: LeaseThreadOptions, ids: readonly ExecutionId[]): void {
  for (let from = 0; from < ids.length; from += limits.heartbeatExecutionsMax)
    void renew(options, ids.slice(from, from + limits.heartbeatExecutionsMax));
}

/** Never throws: the next look tries again, and the database decides. */
async function renew(options: LeaseThreadOptions, ids: readonly ExecutionId[]): Promise<void> {
  const sent = { sentHrMs: hrMs(), sentWallMs: Date.now() };
  try {
    const answer = await options.store.heartbeat({
      executions: ids.map((executionId) => ({ executionId, started: [] })),
    });
    for (const { executionId, status, leaseMs } of answer.executions) {
      if (status !== "renewed" || leaseMs === null) continue;
      const renewal: ThreadRenewal = { executionId, ...sent, leaseMs };
      options.renewals.postMessage(renewal);
    }
  } catch {
    // A store that is away is told by the event loop when it turns again.
  }
}
