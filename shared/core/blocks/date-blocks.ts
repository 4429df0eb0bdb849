import { instantMs } from "../instant";
import type { JsonValue } from "../json";
import { checkInteger } from "../text";
import type { PlannedBlock } from "./planned-block";
import { memberOf, unfit } from "./watermark-value";

/** A stretch of time: `from` belongs to it, `to` doesn't; ISO-8601 in UTC with milliseconds. */
export type DateBlock = { from: string; to: string };

/** With its zone: each computer would read one without as its own time. A day alone is one of UTC. */
const instantText = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/u;

const spanRange = { min: 1, max: 100 * 366 * 86_400_000 } as const;

/**
 * Cuts the time from `from` to before `to` into blocks of `spanMs`: each begins at the instant at which the one before
 * ended, the last one is cut at `to`. from = to gives none: a block without time would be work without data.
 */
export function dateBlocks(range: { from: Date; to: Date; spanMs: number }): Iterable<DateBlock> {
  const from = instantMs("from", range.from);
  checkInteger("spanMs", range.spanMs, spanRange);
  return cut({ from, to: instantMs("to", range.to), spanMs: range.spanMs });
}

function* cut({
  from,
  to,
  spanMs,
}: Record<"from" | "to" | "spanMs", number>): Generator<DateBlock> {
  for (let begin = from; begin < to; begin += spanMs) {
    const end = Math.min(begin + spanMs, to);
    yield { from: new Date(begin).toISOString(), to: new Date(end).toISOString() };
  }
}

/** The request, added to the watermark's position. */
export interface DateRequest {
  /** Until when data is complete; itself not in the last block. */
  readonly to: Date;
  /** Milliseconds per block, at least 1. */
  readonly spanMs: number;
  /** Where the first block of all begins. */
  readonly start: Date;
  /** So much time before the watermark is read again with the new one, for data that comes late; default 0. */
  readonly overlapMs?: number;
}

/**
 * Blocks from the instant where the last one ended up to `to`. Nothing new (`to` at the watermark or before): none, overlap or
 * not. The watermark is `{ "until": ".." }`.
 */
export function planDateBlocks(request: DateRequest, stands: JsonValue): Iterable<PlannedBlock> {
  const start = instantMs("start", request.start);
  const to = instantMs("to", request.to);
  const { spanMs, overlapMs = 0 } = request;
  checkInteger("spanMs", spanMs, spanRange);
  checkInteger("overlapMs", overlapMs, { min: 0, max: spanRange.max });
  const until = untilOf(stands) ?? start;
  return plan({ from: Math.max(start, until - overlapMs), to, spanMs, until });
}

function* plan(range: Record<"from" | "to" | "spanMs" | "until", number>): Generator<PlannedBlock> {
  if (range.to <= range.until) return;
  for (const payload of cut(range)) {
    const end = Date.parse(payload.to);
    const isNew = end > range.until;
    const until = new Date(Math.max(end, range.until)).toISOString();
    yield { payload, watermark: { until }, isNew };
  }
}

function untilOf(stands: JsonValue): number | null {
  const until = memberOf(stands, "until");
  if (until === undefined) return null;
  const ms = typeof until === "string" && instantText.test(until) ? Date.parse(until) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw unfit(stands, '{ "until": ".." } with an ISO-8601 instant, such as 2026-06-01T00:00:00Z');
}
