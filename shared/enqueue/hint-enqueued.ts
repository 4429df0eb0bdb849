import type { Clock } from "../ports/clock";
import type { StoreTransaction } from "../ports/task-store";
import type { WakeUp } from "../ports/wake-up";

/** What hints are sent with. */
export interface HintServices {
  readonly wakeUp: WakeUp;
  readonly clock: Clock;
}

/** What a call has added, as far as hints go. */
export interface AddedTasks {
  readonly ready: boolean;
  /** When the first of the others is due, ms from now; null: none is. */
  readonly nextDueMs: number | null;
}

/** By transaction and way to workers: definitions with the instant (monotonic) at which the first task is due. */
const uncommitted = new WeakMap<StoreTransaction, Map<HintServices, Map<string, number>>>();

/**
 * Tells workers of new tasks. Not waited for: hints of one moment are sent as one, and losing one costs time only.
 * `within` a transaction nothing is sent yet: `sendHintsOf` does it once the transaction has committed.
 */
export function hintEnqueued(
  services: HintServices,
  definition: string,
  { ready, nextDueMs, within }: AddedTasks & { readonly within?: StoreTransaction | undefined },
): void {
  const inMs = ready ? 0 : nextDueMs;
  if (inMs === null) return;
  if (within === undefined) {
    void leaveHint(services.wakeUp, definition, inMs);
    return;
  }
  const byServices = uncommitted.get(within) ?? new Map<HintServices, Map<string, number>>();
  uncommitted.set(within, byServices);
  const dueAtMs = byServices.get(services) ?? new Map<string, number>();
  byServices.set(services, dueAtMs);
  const atMs = services.clock.monotonicMs() + inMs;
  dueAtMs.set(definition, Math.min(atMs, dueAtMs.get(definition) ?? atMs));
}

/**
 * Sends the hints of a transaction that has committed, one per definition. Resolves with the definitions when they are sent or
 * given up; never rejects.
 */
export async function sendHintsOf(transaction: StoreTransaction): Promise<string[]> {
  const byServices = uncommitted.get(transaction);
  uncommitted.delete(transaction);
  const hints = [...(byServices ?? [])].flatMap(([{ wakeUp, clock }, dueAtMs]) => {
    const nowMs = clock.monotonicMs();
    return [...dueAtMs].map(([definition, atMs]) => leaveHint(wakeUp, definition, atMs - nowMs));
  });
  await Promise.all(hints);
  return [...(byServices ?? [])].flatMap(([, dueAtMs]) => [...dueAtMs.keys()]);
}

/** At once for tasks that are due, else `inMs` from now. */
function leaveHint(wakeUp: WakeUp, definition: string, inMs: number): Promise<void> {
  return inMs <= 0 ? wakeUp.hint(definition) : wakeUp.hint(definition, { inMs });
}
