/*
 * When a resident worker looks for tasks that nobody has told it of. Pure: chance and counts come from outside.
 */

/**
 * Pauses between the looks of a worker that has run out of tasks: about two seconds in all. Where tasks tell of themselves
 * the looks are for other processes that need its tokens.
 */
const lingerMs = [20, 200, 250, 250, 250, 250, 250, 250, 250] as const;
const notifiedLingerMs = [250, 250, 250, 250, 250, 250, 250, 250] as const;
/** The same with tokens of a limit that other definitions share: one of them that is denied has no execution that waits. */
const sharedLingerMs = [20, 200] as const;
const sharedNotifiedLingerMs = [250] as const;

/** The first pause between two polls where nothing notifies; it doubles while nothing is found. */
const firstPollMs = 250;

/** The pause after so many empty reads in a row, ms; null: the worker gives its tokens back. */
export function lingerPauseMs(
  emptyReads: number,
  { isNotified, isShared }: { readonly isNotified: boolean; readonly isShared: boolean },
): number | null {
  const [polling, notified] = isShared
    ? [sharedLingerMs, sharedNotifiedLingerMs]
    : [lingerMs, notifiedLingerMs];
  const pauses = isNotified ? notified : polling;
  return pauses[Math.max(emptyReads - 1, 0)] ?? null;
}

/** What the pause before the next poll depends on. */
export interface PollFacts {
  /** The longest pause. */
  readonly pollMs: number;
  /** Polls in a row that found nothing; 0: the last one found tasks. */
  readonly idlePolls: number;
  /** Notifications come: polls are the safety net only. */
  readonly isNotified: boolean;
  /** Until the next delayed task or instant of a schedule, ms; null: none. */
  readonly nextDueMs: number | null;
  /** By chance, 0..1: processes that start together don't poll together. */
  readonly fraction: number;
}

/** The pause before the next poll, ms: within a fifth of the plain one, and no later than the next due instant. */
export function pollPauseMs(facts: PollFacts): number {
  const { pollMs, idlePolls, isNotified, nextDueMs, fraction } = facts;
  const grownMs = firstPollMs * 2 ** Math.min(idlePolls, 20);
  const plainMs = isNotified ? pollMs : Math.min(pollMs, grownMs);
  const pauseMs = Math.round(plainMs * (0.8 + 0.4 * fraction));
  // An instant that is past already found no taker: asking without a pause would not help it.
  return nextDueMs === null || nextDueMs <= 0 ? pauseMs : Math.min(pauseMs, nextDueMs);
}
