import { mergeBuckets, quantileMs } from "../core/duration-buckets";
import type { BucketCount } from "../core/duration-buckets";
import type { Grain, StatisticPeriod } from "../ports/task-store";
import type { OfDefinition } from "./admin-tools";
import { withKnownNames } from "./known-definitions";
import type { Known } from "./known-definitions";
import type { StatisticsRequest } from "./statistics-requests";

/** Statistics of a definition for people: counts, durations and held tokens, by period and in all. */

/** Durations in ms that half, 95 and 99 of 100 tasks reach at most, by buckets of which six make a power of ten; null: none was measured. */
export interface Durations {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

/** Counts of a definition. */
type StatisticCounts = Pick<
  StatisticPeriod,
  "claimed" | "done" | "failed" | "dead" | "lost" | "nextAgeMs"
>;

/** A period of a definition; one in which nothing was counted isn't there. */
export interface PeriodReport extends StatisticCounts, Pick<StatisticPeriod, "at" | "ready"> {
  /** Tokens held, on average over the period. */
  readonly held: number;
  /** null: none. */
  readonly limit: number | null;
  readonly ran: Durations;
  readonly waited: Durations;
}

/** Statistics of a definition. */
export interface StatisticsReport {
  readonly definition: string;
  readonly window: StatisticsRequest["window"];
  /** A period's length. */
  readonly periodMs: number;
  /** How many periods the window has. */
  readonly periodCount: number;
  /** ISO-8601 UTC: until then everything is counted; the sweep counts, once a minute. null: it never has. */
  readonly countedAt: string | null;
  readonly total: StatisticCounts & {
    /** Tasks that ended well per minute, over the window. */
    readonly perMinute: number;
    readonly ran: Durations;
    /** From the enqueue to the begin of the last attempt. */
    readonly waited: Durations;
    /** The part of the time of held tokens in which they ran tasks that ended well, 0..1; null: none was held. Failed attempts don't count: full tokens can have 0. */
    readonly tokenUse: number | null;
  };
  readonly periods: readonly PeriodReport[];
}

const minuteMs = 60_000;
/** The store's mark for a count that never was lies before it. */
const firstCountMs = Date.UTC(2001, 0, 1);

const shapes: Readonly<Record<StatisticsRequest["window"], { grain: Grain; count: number }>> = {
  hour: { grain: 1, count: 60 },
  day: { grain: 10, count: 144 },
  week: { grain: 60, count: 168 },
};

/** Calls about statistics, of one read each. */
export function statisticsCalls(options: Known) {
  return {
    /** Counts, durations and held tokens over the last hour, day or week. */
    statistics: (request: StatisticsRequest & OfDefinition) =>
      withKnownNames(options, request.definition, () => readStatistics(options, request)),
    /** The last two hours of every definition that counted something, by ten minutes, the current ones last: tasks that ended well, and attempts that failed or were lost. */
    summaries: () => readSummaries(options),
  };
}

/** Of one definition. */
export async function readStatistics(
  { store }: Pick<Known, "store">,
  { definition, window }: StatisticsRequest & OfDefinition,
): Promise<StatisticsReport> {
  const { grain, count } = shapes[window];
  const answer = await store.readStatistics({ name: definition, grain, max: count });
  const { periods } = answer;
  const periodMs = grain * minuteMs;
  return {
    definition,
    window,
    periodMs,
    periodCount: count,
    countedAt: answer.countedAt.getTime() < firstCountMs ? null : answer.countedAt.toISOString(),
    total: totalOf(periods, periodMs * count),
    periods: periods.map((period) => {
      // How much of it has passed and was counted.
      const passedMs = answer.countedAt.getTime() - Date.parse(period.at);
      return toReport(period, Math.min(Math.max(passedMs, 1_000), periodMs));
    }),
  };
}

const summaryCount = 12;

/** Of all definitions. */
export async function readSummaries({ store }: Pick<Known, "store">) {
  const { now, periods } = await store.readStatistics({ name: null, grain: 10, max: summaryCount });
  const lastAt = Math.floor(now.getTime() / (10 * minuteMs)) * 10 * minuteMs;
  const byName = new Map<string, { done: number[]; failed: number[] }>();
  for (const { definition, at, done, failed, lost } of periods) {
    const place = summaryCount - 1 - Math.round((lastAt - Date.parse(at)) / (10 * minuteMs));
    if (place < 0 || place >= summaryCount) continue;
    const known = byName.get(definition) ?? { done: zeros(), failed: zeros() };
    known.done[place] = done;
    known.failed[place] = failed + lost;
    byName.set(definition, known);
  }
  return [...byName].map(([definition, counts]) => ({ definition, ...counts }));
}

function zeros(): number[] {
  return Array.from({ length: summaryCount }, () => 0);
}

function totalOf(periods: readonly StatisticPeriod[], windowMs: number): StatisticsReport["total"] {
  const sum = (of: (period: StatisticPeriod) => number): number =>
    periods.reduce((all, period) => all + of(period), 0);
  const heldMs = sum((period) => period.heldMs);
  const done = sum((period) => period.done);
  return {
    claimed: sum((period) => period.claimed),
    done,
    failed: sum((period) => period.failed),
    dead: sum((period) => period.dead),
    lost: sum((period) => period.lost),
    perMinute: Math.round((done / windowMs) * minuteMs * 10) / 10,
    ran: durationsOf(mergeBuckets(periods.map((period) => period.ran))),
    waited: durationsOf(mergeBuckets(periods.map((period) => period.waited))),
    tokenUse: heldMs === 0 ? null : Math.min(sum((period) => period.ranMs) / heldMs, 1),
    nextAgeMs: Math.max(...periods.map((period) => period.nextAgeMs), 0),
  };
}

function toReport(period: StatisticPeriod, passedMs: number): PeriodReport {
  const { at, claimed, done, failed, dead, lost, heldMs, limit, ready, nextAgeMs } = period;
  return {
    at,
    claimed,
    done,
    failed,
    dead,
    lost,
    held: Math.round((heldMs / passedMs) * 10) / 10,
    limit: limit === -1 ? null : limit,
    ready,
    nextAgeMs,
    ran: durationsOf(period.ran),
    waited: durationsOf(period.waited),
  };
}

function durationsOf(buckets: readonly BucketCount[]): Durations {
  return {
    p50Ms: quantileMs(buckets, 0.5),
    p95Ms: quantileMs(buckets, 0.95),
    p99Ms: quantileMs(buckets, 0.99),
  };
}
