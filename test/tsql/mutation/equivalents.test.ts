import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { hashOf, isListed, judge, readEquivalents } from "./equivalents";
import type { Equivalent } from "./equivalents";
import { listMutants } from "./mutants";
import { numberMutants, toEdit } from "./numbered-mutant";
import { scoreOf } from "./report";
import { readSources } from "./source";
import type { Outcome, Verdict } from "./verdict";

const edit = { file: "procedures/P.sql", diff: ["- a", "+ b"] };
const entry: Equivalent = {
  file: "P",
  hash: hashOf(edit),
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

  function read(equivalents: readonly string[], gaps: readonly string[]): Equivalent[] {
    writeFileSync(join(folder, "equivalents.txt"), equivalents.join("\n"));
    writeFileSync(join(folder, "gaps.md"), gaps.join("\n"));
    return readEquivalents(folder);
  }

  test("the reader takes equivalents one a line, and gaps behind their reason", () => {
    const found = read(
      ["# a note", "P 0123456789ab Nobody looks.", "P 0123456789ac#2 So it is."],
      ["# Gaps", "", "- Nothing meets", "  here.", "  `V 0123456789ad` `W 0123456789ae#3`", ""],
    );

    expect(found).toEqual([
      { file: "P", hash: "0123456789ab", verdict: "equivalent", reason: "Nobody looks." },
      { file: "P", hash: "0123456789ac", nth: 2, verdict: "equivalent", reason: "So it is." },
      { file: "V", hash: "0123456789ad", verdict: "gap", reason: "Nothing meets here." },
      { file: "W", hash: "0123456789ae", nth: 3, verdict: "gap", reason: "Nothing meets here." },
    ]);
  });

  test("the reader refuses an entry without a reason, and names its line", () => {
    expect(() => read(["", "P 0123456789ab "], [])).toThrow(
      "equivalents.txt:2: expected FILE HASH REASON, got P 0123456789ab",
    );
    expect(() => read([], ["- `P 0123456789ab`"])).toThrow("gaps.md:1: expected a reason");
  });

  test("the reader refuses a gap without an edit, and names its line", () => {
    expect(() => read([], ["", "- Nothing meets here."])).toThrow("gaps.md:2: expected a reason");
  });

  test("the reader refuses an edit that is listed twice", () => {
    const line = "P 0123456789ab#2";
    expect(() => read([`${line} So it is.`], [`- A gap.`, `  \`${line}\``])).toThrow(
      "known-survivors: P 0123456789ab#2 stands there twice",
    );
  });

  test("each recorded entry is about an edit that is made", () => {
    const made = numberMutants(readSources().flatMap(listMutants)).map(toEdit);
    const entries = readEquivalents();

    expect(judge([], made, entries).stale).toEqual([]);
    expect(made.some((one) => isListed(one, entries))).toBe(true);
  });
});

describe("a judgement", () => {
  const killed: Verdict = { kind: "killed", by: "test", where: "a test", why: "it failed" };
  const survived: Verdict = { kind: "survived", tried: 7 };

  function outcome(verdict: Verdict, more: Partial<Outcome> = {}): Outcome {
    return { ...edit, line: 1, nth: 1, kind: "hint", verdict, ...more };
  }

  test("an edit explained as equivalent counts neither way, a gap counts as alive", () => {
    const hash = hashOf({ ...edit, diff: ["- c"] });
    const gap: Equivalent = { ...entry, hash, verdict: "gap" };
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
