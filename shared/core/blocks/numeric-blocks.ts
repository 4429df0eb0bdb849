import type { JsonValue } from "../json";
import { refusedField } from "../refused-field";
import type { PlannedBlock } from "./planned-block";
import { memberOf, unfit } from "./watermark-value";
import { wholeNumber } from "./whole-number";
import type { WholeNumber } from "./whole-number";

/** A stretch of whole numbers with both ends in it; decimal texts, so that 64 bits survive JSON: `BigInt(block.from)`. */
export type NumericBlock = { from: string; to: string };

/**
 * Cuts `from..to` into blocks of `size` numbers, ascending, without gap or overlap; the last one ends at `to`. Both ends
 * belong to the range: from = to gives a block of one number, from > to none.
 */
export function numericBlocks(range: {
  from: WholeNumber;
  to: WholeNumber;
  size: WholeNumber;
}): Iterable<NumericBlock> {
  const from = wholeNumber("from", range.from);
  const to = wholeNumber("to", range.to);
  return cut({ from, to, size: atLeast("size", range.size, 1n) });
}

function* cut({ from, to, size }: Record<"from" | "to" | "size", bigint>): Generator<NumericBlock> {
  for (let first = from; first <= to; first += size) {
    const last = first + size - 1n;
    yield { from: String(first), to: String(last < to ? last : to) };
  }
}

/** The request, added to the watermark's position. */
export interface NumericRequest {
  /** The greatest number that there is, for example `max(id)`. */
  readonly to: WholeNumber;
  /** Numbers per block, at least 1. */
  readonly size: WholeNumber;
  /** Where the first block of all begins; default 1. */
  readonly start?: WholeNumber;
  /** So many numbers before the watermark are read again with the new ones, for data that comes late; default 0. */
  readonly overlap?: WholeNumber;
}

/**
 * Blocks from behind the last number that was made up to `to`. Nothing new (`to` at the watermark or before): none, overlap or
 * not. The watermark is `{ "last": ".." }`.
 */
export function planNumericBlocks(
  request: NumericRequest,
  stands: JsonValue,
): Iterable<PlannedBlock> {
  const start = wholeNumber("start", request.start ?? 1);
  const to = wholeNumber("to", request.to);
  const size = atLeast("size", request.size, 1n);
  const overlap = atLeast("overlap", request.overlap ?? 0, 0n);
  const last = lastOf(stands);
  const next = last === null ? start : last + 1n - overlap;
  return plan({ from: next < start ? start : next, to, size, last: last ?? start - 1n });
}

function* plan(range: Record<"from" | "to" | "size" | "last", bigint>): Generator<PlannedBlock> {
  if (range.to <= range.last) return;
  for (const payload of cut(range)) {
    const end = BigInt(payload.to);
    const isNew = end > range.last;
    yield { payload, watermark: { last: String(isNew ? end : range.last) }, isNew };
  }
}

function lastOf(stands: JsonValue): bigint | null {
  const last = memberOf(stands, "last");
  if (last === undefined) return null;
  if (typeof last === "string" || typeof last === "number") return wholeNumber("watermark", last);
  throw unfit(stands, '{ "last": ".." } with a whole number');
}

function atLeast(field: string, value: WholeNumber, min: bigint): bigint {
  const number = wholeNumber(field, value);
  if (number >= min) return number;
  throw refusedField(field, `a whole number of at least ${String(min)} (${String(number)})`);
}
