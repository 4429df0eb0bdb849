import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { judge, readEquivalents } from "./equivalents";
import type { Equivalent } from "./equivalents";
import { scoreOf } from "./report";
import type { Outcome, Verdict } from "./verdict";

const entry: Equivalent = {
  file: "procedures/P.sql",
  diff: ["- a", "+ b"],
  verdict: "equivalent",
  reason: "Nobody looks.",
};

describe("known survivors", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "known-survivors-"));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function write(name: string, entries: readonly Equivalent[]): void {
    writeFileSync(join(folder, name), JSON.stringify(entries));
  }

  test("come from one file for each shipped one", () => {
    const other = { ...entry, file: "views/V.sql" };
    write("P.json", [entry]);
    write("V.json", [other]);

    expect(readEquivalents(folder)).toEqual([entry, other]);
  });

  test("an entry in another's file is refused", () => {
    write("Q.json", [entry]);

    expect(() => readEquivalents(folder)).toThrow(
      "Q.json: expected an entry about procedures/P.sql to stand in P.json",
    );
  });

  test("an entry without a reason is refused", () => {
    write("P.json", [{ ...entry, reason: " " }]);

    expect(() => readEquivalents(folder)).toThrow("P.json: - a + b gives no reason");
  });
});

describe("a judgement", () => {
  const killed: Verdict = { kind: "killed", by: "test", where: "a test", why: "it failed" };
  const survived: Verdict = { kind: "survived", tried: 7 };

  function outcome(verdict: Verdict, more: Partial<Outcome> = {}): Outcome {
    const { file, diff } = entry;
    return { file, diff, line: 1, nth: 1, kind: "hint", verdict, ...more };
  }

  test("what is explained as equivalent counts neither way, a gap counts as alive", () => {
    const gap: Equivalent = { ...entry, diff: ["- c"], verdict: "gap" };
    const outcomes = [
      outcome(killed, { diff: ["- d"] }),
      outcome(survived),
      outcome(survived, { diff: ["- c"] }),
      outcome(survived, { diff: ["- e"] }),
    ];

    const judged = judge(outcomes, outcomes, [entry, gap]);

    expect(judged.equivalent).toHaveLength(1);
    expect(judged.gaps).toHaveLength(1);
    expect(judged.unexplained).toHaveLength(1);
    expect(scoreOf(judged)).toBeCloseTo(1 / 3);
  });

  test("numbers are no part of the score", () => {
    const outcomes = [outcome(killed), outcome(survived, { diff: ["- c"], kind: "number" })];

    const judged = judge(outcomes, outcomes, []);

    expect(scoreOf(judged)).toBe(1);
    expect(judged.unexplained).toEqual([]);
    expect(judged.numbers).toHaveLength(1);
  });

  test("an entry whose edit is killed, or isn't made any more, is out of date", () => {
    expect(judge([outcome(killed)], [outcome(killed)], [entry]).stale).toEqual([entry]);
    expect(judge([], [], [entry]).stale).toEqual([entry]);
    expect(judge([], [outcome(survived)], [entry]).stale).toEqual([]);
  });
});
