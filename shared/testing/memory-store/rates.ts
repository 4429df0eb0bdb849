import { limits } from "../../core/limits";
import { carryOver, countPermits, rateText } from "../../core/rate";
import type { Permits, Rate } from "../../core/rate";
import type { Implementation } from "./implementation";
import { expectRange, invalidArgument, isWithin } from "./arguments";
import { audit, byOperator } from "./audit";
import { definitionNamed, hasReady } from "./rows";
import type { DefinitionRow, Memory } from "./state";

/** The rate in force: the operator's, else the code's; null: none. */
export function rateOf(definition: DefinitionRow): Rate | null {
  return definition.operatorRate === "code" ? codeRateOf(definition) : definition.operatorRate;
}

/** The code's rate; null: none. */
export function codeRateOf(definition: DefinitionRow): Rate | null {
  return definition.settings.rate ?? null;
}

/** How many of `want` tasks the rate lets start now; without a rate all of them. */
export function permitsOf(memory: Memory, definition: DefinitionRow, want: number): Permits | null {
  const rate = rateOf(definition);
  return rate === null ? null : countPermits(rate, instantsOf(memory, definition), want);
}

/** Until the rate lets another task start, as SQL tells lists and people: 0: now; null: no rate. */
export function permitInMs(memory: Memory, definition: DefinitionRow): number | null {
  return rateOf(definition) === null ? null : (nextPermitMs(memory, definition) ?? 0);
}

/** Until the next permit, whoever takes it: no turn of a crowd counts. null: there is one now, or no rate. */
export function nextPermitMs(memory: Memory, definition: DefinitionRow): number | null {
  const rate = rateOf(definition);
  if (rate === null) return null;
  return countPermits(rate, { ...instantsOf(memory, definition), turnAtUs: null }, 1).retryInMs;
}

/** So many have started; of none a turn may have been given. */
export function usePermits(definition: DefinitionRow, permits: Permits, count: number): void {
  definition.turnAtUs = permits.turnAtUs;
  if (count > 0) definition.nextFreeAtUs = permits.fromUs + count * permits.intervalUs;
}

/** set_rate: an operator's rate over the code's, or none any more. Acts at the next claim. */
export const setRate: Implementation<"setRate"> = (memory, input) => {
  if (input.rate !== "code") expectRate(input.rate);
  const definition = definitionNamed(memory.state, input.name);
  const oldRate = rateOf(definition);
  const { expectedRate = oldRate } = input;
  if (rateText(expectedRate) !== rateText(oldRate))
    return { status: "conflict", oldRate, newRate: oldRate, ready: false };
  const oldValue = operatorText(definition.operatorRate);
  changeRate(memory, definition, { code: codeRateOf(definition), operator: input.rate });
  const newValue = operatorText(definition.operatorRate);
  if (oldValue !== newValue) {
    audit(memory, definition, {
      setting: "rate_override",
      oldValue,
      newValue,
      ...byOperator(input),
    });
  }
  return {
    status: oldValue === newValue ? "exists" : "set",
    oldRate,
    newRate: rateOf(definition),
    ready: hasReady(memory.state, definition),
  };
};

/** Writes a rate, the code's and the operator's; the used part of the old burst is used of the new one. */
export function changeRate(
  memory: Memory,
  definition: DefinitionRow,
  to: { code: Rate | null; operator: Rate | null | "code" },
): void {
  const old = rateOf(definition);
  definition.settings = { ...definition.settings, rate: to.code };
  definition.operatorRate = to.operator;
  const now = rateOf(definition);
  if (rateText(old) !== rateText(now)) definition.turnAtUs = null;
  if (to.code === null && to.operator === "code") definition.nextFreeAtUs = null;
  else if (definition.nextFreeAtUs === null)
    definition.nextFreeAtUs = instantsOf(memory, definition).nowUs;
  else if (rateText(old) !== rateText(now)) {
    definition.nextFreeAtUs = carryOver({ old, new: now }, instantsOf(memory, definition));
  }
}

function operatorText(rate: Rate | null | "code"): string | null {
  return rate === "code" ? null : rateText(rate);
}

function instantsOf(
  memory: Memory,
  definition: DefinitionRow,
): { nextFreeAtUs: number; nowUs: number; turnAtUs: number | null } {
  const nowUs = Math.round(memory.nowMs * 1_000);
  const { nextFreeAtUs, turnAtUs } = definition;
  return { nextFreeAtUs: nextFreeAtUs ?? nowUs, nowUs, turnAtUs };
}

/** Throws InvalidArgumentError with the first problem. */
export function expectRate(rate: Rate | null): void {
  if (rate === null) return;
  const { count, periodMs, burst } = rate;
  expectRange("rate_count", count, [1, limits.rateCountMax]);
  expectRange("rate_period_ms", periodMs, [limits.ratePeriodMsMin, limits.ratePeriodMsMax]);
  if (!isWithin(burst, 1, count)) {
    throw invalidArgument(`rate_burst: expected 1..rate_count (${String(burst)})`);
  }
}
