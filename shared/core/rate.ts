/*
 * The generic cell rate algorithm, as the databases count it: one instant, up to `burst` intervals ahead of the clock, that
 * every start moves on by one interval. In any window at most burst + window / interval tasks start. Whole microseconds.
 */

/** So many starts per period, so many of them at once. */
export interface Rate {
  /** 1..1,000,000 */
  count: number;
  /** 1,000..86,400,000 ms */
  periodMs: number;
  /** 1..count: starts that may come at once after a pause. */
  burst: number;
}

/** A rate as the databases' `_rate_text` writes it. */
export function rateText(rate: Rate | null): string {
  if (rate === null) return "none";
  const { count, periodMs, burst } = rate;
  return JSON.stringify({ count, periodMs, burst });
}

/** What may start now. */
export interface Permits {
  allowed: number;
  /** The instant that starts move on, and by how much each; microseconds. */
  fromUs: number;
  intervalUs: number;
  /** When to ask again for those that may not start now; null: none is missing. */
  retryInMs: number | null;
  /** The last turn given to an execution that was allowed nothing; microseconds, null: none was. */
  turnAtUs: number | null;
}

/** Microseconds between two starts, rounded up: never faster than asked for. */
export function intervalUs(rate: Rate): number {
  return Math.ceil((rate.periodMs * 1_000) / rate.count);
}

/** What refills in a tenth of a second, at least one: a steady stream of starts, and room for a call's round trip. */
export function defaultBurst(rate: { count: number; periodMs: number }): number {
  return Math.max(1, Math.ceil((rate.count * 100) / rate.periodMs));
}

/** Turns for each permit, evenly apart: where one of the executions has ended by then the other takes the permit. */
const turnsPerPermit = 2;
/** Turns lie within this time, ms: a worker that is told a later instant gives its tokens up. */
const turnsWithinMs = 1_000;
/** A caller that met a bucket in use asks again after so much at least, ms, and within so much more at least. */
const heldRowMs = { min: 5, spread: 16 } as const;

/**
 * How many of `want` tasks may start at `nowUs`. A crowd doesn't ask all at once for the next permit: whom nothing is allowed
 * gets a turn behind those that were denied before, two for each permit.
 */
export function countPermits(
  rate: Rate,
  at: { nextFreeAtUs: number; nowUs: number; turnAtUs: number | null },
  want: number,
): Permits {
  const interval = intervalUs(rate);
  const fromUs = Math.max(at.nextFreeAtUs, at.nowUs);
  const leadUs = fromUs - at.nowUs;
  const left = Math.max(rate.burst - Math.ceil(leadUs / interval), 0);
  const allowed = Math.min(left, want);
  const waitUs = leadUs - (rate.burst - 1 - allowed) * interval;
  const permits = { allowed, fromUs, intervalUs: interval, turnAtUs: at.turnAtUs };
  if (allowed === want) return { ...permits, retryInMs: null };
  const permitInMs = Math.ceil(waitUs / 1_000);
  // Who comes shortly before a permit has its turn: the permit before was taken late, and moved this one.
  if (allowed > 0 || 6 * waitUs <= interval) return { ...permits, retryInMs: permitInMs };
  const permitAtUs = at.nowUs + waitUs;
  const turnAtUs = Math.max(at.turnAtUs ?? permitAtUs, permitAtUs);
  const turnInMs = Math.ceil((turnAtUs - at.nowUs) / 1_000);
  const latestMs = Math.max(permitInMs, turnsWithinMs);
  if (turnInMs > latestMs) return { ...permits, retryInMs: latestMs };
  const step = Math.ceil(interval / turnsPerPermit);
  return { ...permits, retryInMs: turnInMs, turnAtUs: turnAtUs + step };
}

/**
 * When a caller asks again that met the bucket's row held by another call: as of the databases' `_RetryBesideMs`. `at`: as of the
 * last commit; `fraction`: 0..1, by lot.
 */
export function besideHolderMs(
  rate: Rate,
  at: { nextFreeAtUs: number; nowUs: number; turnAtUs: number | null },
  fraction: number,
): number {
  const interval = intervalUs(rate);
  const aheadUs = Math.max(at.nextFreeAtUs - at.nowUs, 0) - (rate.burst - 1) * interval;
  const permitUs = Math.max(aheadUs, 0);
  const behindUs = Math.max(aheadUs + interval, 0);
  const latestUs = Math.max(permitUs, turnsWithinMs * 1_000);
  const leadUs = Math.min(behindUs, Math.max(permitUs, turnsWithinMs * 500));
  const turnsUs = Math.max((at.turnAtUs ?? at.nowUs) - at.nowUs - leadUs, 0);
  const spreadUs = Math.max(turnsUs + (behindUs > 0 ? interval : 0), heldRowMs.spread * 1_000);
  const drawnUs = leadUs + fraction * Math.min(spreadUs, latestUs - leadUs);
  return Math.min(heldRowMs.min + Math.floor(drawnUs / 1_000), Math.ceil(latestUs / 1_000));
}

/** The instant when a rate takes another's place: the used part of the old burst is used of the new one. */
export function carryOver(
  change: { old: Rate | null; new: Rate | null },
  at: { nextFreeAtUs: number; nowUs: number },
): number {
  const leadUs = Math.max(at.nextFreeAtUs - at.nowUs, 0);
  const used = change.old === null ? 0 : Math.ceil(leadUs / intervalUs(change.old));
  if (change.new === null) return at.nowUs;
  return at.nowUs + Math.min(used, change.new.burst) * intervalUs(change.new);
}
