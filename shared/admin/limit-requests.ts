/**
 * Reads what operators ask of rates, as requests.ts does: checked values, or all problems.
 */
import { limits } from "../core/limits";
import { defaultBurst } from "../core/rate";
import type { Rate } from "../core/rate";
import { describeTextRule, isTextOf, ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { keyRule, readMax, reasonRule, refused } from "./requests";

/** An operator's rate. */
export interface RateRequest {
  readonly rate: Rate | null | "code";
  readonly reason?: string;
}

const expectedRate = `null (no rate), "code" (the code's own again) or { count, periodMs, burst? }`;

/** The body of a rate's change: `{ rate: { count, periodMs, burst? } | null | "code", reason? }`. */
export function readRateRequest(input: unknown): ReadResult<RateRequest> {
  const reader = ObjectReader.open(input, { known: ["rate", "reason"] });
  reader.require("rate", expectedRate);
  const given = reader.raw("rate");
  const reason = reader.text("reason", reasonRule);
  const rest = reason === null ? {} : { reason };
  if (given === null || given === "code") return reader.result({ rate: given, ...rest });
  const rate = readRate(given);
  if (!rate.ok) reader.problems.addAll(rate);
  return reader.result({ rate: rate.ok ? rate.value : null, ...rest });
}

function readRate(input: unknown): ReadResult<Rate> {
  if (typeof input !== "object" || Array.isArray(input))
    return refused("rate", input, expectedRate);
  const reader = ObjectReader.open(input, { known: ["count", "periodMs", "burst"] });
  const period = { min: limits.ratePeriodMsMin, max: limits.ratePeriodMsMax };
  reader.require("count", `a whole number in 1..${String(limits.rateCountMax)}`);
  reader.require("periodMs", `a whole number in ${String(period.min)}..${String(period.max)}`);
  const count = reader.integer("count", { min: 1, max: limits.rateCountMax }) ?? 1;
  const periodMs = reader.integer("periodMs", period) ?? period.min;
  const burst = reader.integer("burst", { min: 1, max: count });
  return reader.result({ count, periodMs, burst: burst ?? defaultBurst({ count, periodMs }) });
}

/** Which shared limits to list. */
export interface ListSharedLimitsRequest {
  readonly name?: string;
  readonly max: number;
}

/** The query of a list of shared limits: `name`, `max` (default 100). Values are texts. */
export function readListSharedLimitsQuery(input: unknown): ReadResult<ListSharedLimitsRequest> {
  const reader = ObjectReader.open(input, { known: ["name", "max"], root: "query" });
  const name = reader.text("name", keyRule);
  const max = readMax(reader);
  return reader.result({ ...(name === null ? {} : { name }), max });
}

/** The name of a shared limit from a route or an argument. */
export function readSharedLimitName(input: unknown): ReadResult<string> {
  if (typeof input === "string" && isTextOf(input, keyRule)) return { ok: true, value: input };
  return refused("name", input, `the name of a shared limit: ${describeTextRule(keyRule)}`);
}
