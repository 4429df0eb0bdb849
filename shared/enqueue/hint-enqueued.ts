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
  /** One per task, of those that were there already as well. */
  readonly taskIds: readonly unknown[];
}

/** Tasks of a transaction: the instant (monotonic) at which the first one is due, and how many there are. */
interface Uncommitted {
  readonly atMs: number;
  readonly tasks: number;
}

/** By transaction, way to workers and definition. */
const uncommitted = new WeakMap<StoreTransaction, Map<HintServices, Map<string, Uncommitted>>>();

/**
 * Tells workers of new tasks. Not waited for: hints of one moment are sent as one, and losing one costs time only.
 * `within` a transaction nothing is sent yet: `sendHintsOf` does it once the transaction has committed.
 */
export function hintEnqueued(
  services: HintServices,
  definition: string,
  {
    ready,
    nextDueMs,
    taskIds,
    within,
  }: AddedTasks & { readonly within?: StoreTransaction | undefined },
): void {
  const inMs = ready ? 0 : nextDueMs;
  if (inMs === null) return;
  if (within === undefined) {
    void leaveHint(services.wakeUp, definition, { inMs, tasks: taskIds.length });
    return;
  }
  const byServices = uncommitted.get(within) ?? new Map<HintServices, Map<string, Uncommitted>>();
  uncommitted.set(within, byServices);
  const added = byServices.get(services) ?? new Map<string, Uncommitted>();
  byServices.set(services, added);
  const atMs = services.clock.monotonicMs() + inMs;
  const before = added.get(definition);
  added.set(definition, {
    atMs: Math.min(atMs, before?.atMs ?? atMs),
    tasks: taskIds.length + (before?.tasks ?? 0),
  });
}

/**
 * Sends the hints of a transaction that has committed, one per definition. Resolves with the definitions when they are sent or
 * given up; never rejects.
 */
export async function sendHintsOf(transaction: StoreTransaction): Promise<string[]> {
  const byServices = uncommitted.get(transaction);
  uncommitted.delete(transaction);
  const hints = [...(byServices ?? [])].flatMap(([{ wakeUp, clock }, added]) => {
    const nowMs = clock.monotonicMs();
    return [...added].map(([definition, { atMs, tasks }]) =>
      leaveHint(wakeUp, definition, { inMs: atMs - nowMs, tasks }),
    );
  });
  await Promise.all(hints);
  return [...(byServices ?? [])].flatMap(([, added]) => [...added.keys()]);
}

/** At once for tasks that are due, else `inMs` from now. */
function leaveHint(
  wakeUp: WakeUp,
  definition: string,
  { inMs, tasks }: { readonly inMs: number; readonly tasks: number },
): Promise<void> {
  return wakeUp.hint(definition, inMs <= 0 ? { tasks } : { inMs, tasks });
}
