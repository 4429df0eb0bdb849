import { describe, expect, test } from "@jest/globals";
import { findViolations, mostRunning, readInterval } from "./limit-evidence";
import type { Interval, LimitChange } from "./limit-evidence";

const forever = Number.POSITIVE_INFINITY;
const changes: readonly LimitChange[] = [
  { limit: 2, beforeMs: 0, afterMs: 1 },
  { limit: 1, beforeMs: 100, afterMs: 110 },
];

function ran(fromMs: number, untilMs: number, grantedMs = fromMs): Interval {
  return { process: "one", fromMs, untilMs, grantedMs };
}

describe("the judge of the limit tests", () => {
  test("the judge of the limit tests finds the instant at which more ran than the limit allows", () => {
    const found = findViolations([ran(10, 50), ran(20, 50), ran(30, 40)], changes);
    expect(found).toEqual([
      {
        atMs: 30,
        running: 3,
        allowed: 2,
        who: ["one: 20.0 ms, 20.0 ms", "one: 10.0 ms, 10.0 ms", "one: 0.0 ms, 0.0 ms"],
      },
    ]);
  });

  test("the judge of the limit tests allows the limit of before to what was granted before the change was made", () => {
    expect(findViolations([ran(10, 300), ran(200, 300, 105)], changes)).toEqual([]);
    expect(findViolations([ran(200, 300), ran(210, 300)], changes)).toMatchObject([
      { atMs: 210, running: 2, allowed: 1 },
    ]);
  });

  test("the judge of the limit tests finds nothing at the instant of an entry that its process had sent before it was halted", () => {
    const late = ran(60, 55);
    expect(findViolations([late], changes)).toEqual([]);
    expect(findViolations([late, ran(50, forever), ran(58, forever)], changes)).toEqual([]);
    expect(mostRunning([late], 0)).toBe(0);
  });

  test("counts of a halted process only the calls that it lets begin afterwards", () => {
    const halts = [{ process: "one", atMs: 20, untilMs: 4_500 }];
    const entry = { process: "one", from_ms: "4501", until_ms: "4520", granted_ms: null };
    const before = readInterval({ ...entry, admitted_ms: 19 }, halts);
    const behind = readInterval({ ...entry, admitted_ms: 4_501 }, halts);
    const others = [ran(4_500, forever), ran(4_500, forever)];
    const two = changes.slice(0, 1);
    expect(findViolations([before, ...others], two)).toEqual([]);
    expect(findViolations([behind, ...others], two)).toMatchObject([{ atMs: 4_501, running: 3 }]);
  });
});
