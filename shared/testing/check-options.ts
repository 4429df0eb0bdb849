import { checkNames } from "../core/known-names";
import { limits } from "../core/limits";
import { listableStates } from "../core/listable-states";
import { checkInteger } from "../core/text";
import { checkFunction, checkList, wrongValue } from "../core/wrong-value";

/*
 * What the compiler can't see of the kit's options is refused by name: a test of a state or an end that there isn't would pass
 * without looking at anything.
 */

/** States of a task, as `tasks` of a bench takes them. */
const taskStates: readonly string[] = ["blocked", ...listableStates];
const interruptions: readonly string[] = ["deadline", "stopped", "lost", "cancelled"];
/** More tokens than a worker can ask for. */
const concurrencyMax = 1_000;

/** A time that a test gives: any number of milliseconds from 0 on. */
export function checkMs(field: string, ms: number): void {
  if (typeof ms !== "number" || !(ms >= 0 && ms <= limits.runInMsMax))
    throw wrongValue(field, `a number in 0..${String(limits.runInMsMax)}`, ms);
}

/** The bound of `drain` and `settle`. */
export function checkMaxRuns(maxRuns: number): void {
  checkInteger("maxRuns", maxRuns, { min: 0, max: Number.MAX_SAFE_INTEGER });
}

/** Options of a bench, apart from its clock's. */
export function checkBench(options: {
  seed?: unknown;
  others?: readonly unknown[];
  sql?: unknown;
  concurrency?: unknown;
}): void {
  checkNames("TestBench", options, ["startAt", "seed", "others", "sql", "concurrency"]);
  const { seed = 1, others = [], sql, concurrency = 1 } = options;
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number;
  checkInteger("seed", seed as number, { min, max });
  checkInteger("concurrency", concurrency as number, { min: 1, max: concurrencyMax });
  checkList("others", others, "names of definitions, or what defineQueue returns");
  if (sql !== undefined) checkFunction("sql", sql);
}

/** The state that tasks are looked for by. */
export function checkState(state: unknown): void {
  if (state === undefined || taskStates.includes(state as string)) return;
  throw wrongValue("state", `one of ${taskStates.join(", ")}`, state);
}

/** Options of a single run, apart from its payload. */
export function checkRun(options: {
  attempt?: unknown;
  timeLeftMs?: unknown;
  sql?: unknown;
  interrupt?: { as?: unknown; afterMs?: unknown };
}): void {
  const { attempt = 1, timeLeftMs = 0, sql, interrupt } = options;
  checkInteger("attempt", attempt as number, { min: 1, max: 2_147_483_647 });
  if (typeof timeLeftMs !== "number" || Number.isNaN(timeLeftMs))
    throw wrongValue("timeLeftMs", "a number of milliseconds", timeLeftMs);
  if (sql !== undefined) checkFunction("sql", sql);
  if (interrupt === undefined) return;
  checkNames("interrupt", interrupt, ["as", "afterMs"]);
  const { as, afterMs = 0 } = interrupt;
  if (!interruptions.includes(as as string))
    throw wrongValue("interrupt.as", `one of ${interruptions.join(", ")}`, as);
  checkMs("interrupt.afterMs", afterMs as number);
}
