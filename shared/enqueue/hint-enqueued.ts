import type { WakeUp } from "../ports/wake-up";

/** Tells workers of new tasks. Not waited for: hints of one moment are sent as one, and losing one costs time only. */
export function hintEnqueued(
  wakeUp: WakeUp,
  definition: string,
  added: { readonly ready: boolean; readonly nextDueMs: number | null },
): void {
  if (added.ready) void wakeUp.hint(definition);
  else if (added.nextDueMs !== null) void wakeUp.hint(definition, { inMs: added.nextDueMs });
}
