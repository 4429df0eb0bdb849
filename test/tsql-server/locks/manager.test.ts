import { describe, expect, test } from "@jest/globals";
import { LockManager } from "./manager";
import type { LockMode } from "./modes";
import { areCompatible, combineModes, isCovered, lockModes } from "./modes";

const key = "KEY dbo.T.PK(1)";

function setup() {
  const granted: number[] = [];
  const locks = new LockManager((session) => granted.push(session));
  const ask = (session: number, mode: LockMode, resource = key) => {
    const isGranted = locks.tryAcquire({ session, resource, mode });
    if (!isGranted) locks.enqueue({ session, resource, mode });
    return isGranted;
  };
  return { locks, ask, granted };
}

describe("lock modes", () => {
  test("the table of the lock compatibility page", () => {
    const modes: LockMode[] = ["IS", "S", "U", "IX", "SIX", "X"];
    const table = modes.map((held) =>
      modes.map((asked) => (areCompatible(held, asked) ? "y" : "n")).join(""),
    );
    expect(table).toEqual(["yyyyyn", "yyynnn", "yynnnn", "ynnynn", "ynnnnn", "nnnnnn"]);
  });

  test("the table of the key-range page is followed: rows held, columns asked", () => {
    const modes: LockMode[] = ["S", "U", "X", "RangeS-S", "RangeS-U", "RangeI-N", "RangeX-X"];
    const table = modes.map((held) =>
      modes.map((asked) => (areCompatible(held, asked) ? "y" : "n")).join(""),
    );
    expect(table).toEqual([
      "yynyyyn",
      "ynnynyn",
      "nnnnnyn",
      "yynyynn",
      "ynnynnn",
      "yyynnyn",
      "nnnnnnn",
    ]);
  });

  test("a combined mode is the same both ways, and covers both parts", () => {
    const ofTables = new Set<LockMode>(["Sch-S", "IS", "IX", "S", "SIX", "X", "Sch-M"]);
    for (const left of lockModes) {
      for (const right of lockModes) {
        const both = combineModes(left, right);
        expect(combineModes(right, left)).toBe(both);
        const areKept = left !== "RangeI-N" && right !== "RangeI-N"; // that one is never kept
        const areAlike = ofTables.has(left) === ofTables.has(right);
        expect(!areKept || !areAlike || (isCovered(both, left) && isCovered(both, right))).toBe(
          true,
        );
      }
    }
    expect(combineModes("S", "IX")).toBe("SIX");
    expect(combineModes("RangeS-S", "X")).toBe("RangeX-X");
    expect(combineModes("RangeS-U", "RangeI-N")).toBe("RangeX-U");
    expect(combineModes("X", "RangeI-N")).toBe("RangeI-X");
  });
});

describe("the lock manager", () => {
  test("a later session waits behind a waiter it conflicts with", () => {
    const { ask, locks, granted } = setup();
    expect([ask(1, "S"), ask(2, "X"), ask(3, "S")]).toEqual([true, false, false]);
    locks.releaseAll(1);
    expect(granted).toEqual([2]);
    locks.releaseAll(2);
    expect(granted).toEqual([2, 3]);
  });

  test("a conversion looks at holders only, and stands first", () => {
    const { ask, locks, granted } = setup();
    ask(1, "S");
    ask(2, "S");
    ask(3, "X");
    expect(ask(2, "X")).toBe(false);
    locks.releaseAll(1);
    expect(granted).toEqual([2]);
    expect(locks.modeOf(2, key)).toBe("X");
  });

  test("a waiter that leaves lets those behind it pass", () => {
    const { ask, locks, granted } = setup();
    ask(1, "S");
    ask(2, "X");
    ask(3, "S");
    locks.cancelWait(2);
    expect(granted).toEqual([3]);
  });

  test("a weakened lock lets others pass", () => {
    const { ask, locks, granted } = setup();
    ask(1, "U");
    ask(1, "X");
    ask(2, "S");
    locks.restore(1, key, "U");
    expect(granted).toEqual([2]);
  });

  test("two transactions that have read a gap can't both insert into it; one alone can", () => {
    const { ask, locks } = setup();
    expect([ask(1, "RangeS-S"), ask(1, "RangeI-N")]).toEqual([true, true]);
    expect(locks.modeOf(1, key)).toBe("RangeX-S");
    locks.restore(1, key, "RangeS-S");
    expect([ask(2, "RangeS-S"), ask(1, "RangeI-N"), ask(2, "RangeI-N")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(locks.findCycle(2)).toEqual([2, 1]);
  });

  test("the lock manager finds a cycle through two resources, and through two conversions of one", () => {
    const two = setup();
    two.ask(1, "X", "a");
    two.ask(2, "X", "b");
    two.ask(1, "X", "b");
    expect(two.locks.findCycle(1)).toBeUndefined();
    two.ask(2, "X", "a");
    expect(two.locks.findCycle(2)).toEqual([2, 1]);
    const one = setup();
    one.ask(1, "S");
    one.ask(2, "S");
    one.ask(1, "X");
    one.ask(2, "X");
    expect(one.locks.findCycle(2)).toEqual([2, 1]);
  });

  test("the end of a transaction keeps what belongs to the session", () => {
    const { ask, locks } = setup();
    ask(1, "X", "APP a");
    ask(1, "X");
    locks.releaseAll(1, new Set(["APP a"]));
    expect(locks.describe()).toEqual(["1 X APP a"]);
  });
});
