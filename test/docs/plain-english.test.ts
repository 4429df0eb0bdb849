import { describe, expect, test } from "@jest/globals";
import {
  countWords,
  findIn,
  readComments,
  readMarkdown,
  readProse,
  readSql,
  readTitles,
} from "./prose";
import type { Finding } from "./prose";

/*
 * Goal: an engineer reads pages, comments and titles once. Method: words with an open subject, references that no page
 * explains and sentences over 25 words are counted per 1,000 words. The budget of private words is a little above what
 * well-kept libraries have. No page has a long sentence; the budget is for comments that need one.
 */
const budgets = { private: 0.5, long: 0.3 } as const;

const prose = readProse();
const words = countWords(prose);
const findings = findIn(prose);

/** The rule, place and text of each finding of a rule. */
const listed = (rule: Finding["rule"]): string[] =>
  findings.filter((one) => one.rule === rule).map(({ place, text }) => `${place} ${text}`);

const rulesOf = (lines: readonly string[]): string[] =>
  findIn([{ path: "page.md", lines }]).map(({ rule, place }) => `${rule} ${place}`);

describe("the prose of the repository", () => {
  test("the prose of the repository is read from pages, comments and titles", () => {
    expect(words).toBeGreaterThan(100_000);
    for (const kind of [/^docs\/.*\.md$/, /^shared\/.*\.ts$/, /\.sql$/, /\.contract\.ts$/]) {
      expect(prose.some(({ path, lines }) => kind.test(path) && lines.join("") !== "")).toBe(true);
    }
  });

  test("the prose of the repository has at most 0.5 private words per 1,000 words", () => {
    const found = listed("private");
    expect(found.length > (budgets.private * words) / 1_000 ? found : []).toEqual([]);
  });

  test("the prose of the repository has at most 0.3 sentences over 25 words per 1,000 words", () => {
    const found = listed("long");
    expect(found.length > (budgets.long * words) / 1_000 ? found : []).toEqual([]);
  });

  test("the prose of the repository has no reference that no page explains", () => {
    expect(listed("dangling")).toEqual([]);
  });
});

test("no word stands that the glossary has another word for", () => {
  expect(listed("retired")).toEqual([]);
});

describe("the rules", () => {
  test("the rules find each kind of private word, and leave a question alone", () => {
    const lines = [
      "Somebody waits.",
      "It goes on, whatever happens.",
      "Tasks go to who asks first.",
      "The worker looks again.",
      "It waits for so long.",
      "No call heeds it.",
      "Who holds the token now?",
      "The holder of the token goes on.",
    ];
    const expected = [1, 2, 3, 4, 5, 6].map((line) => `private page.md:${String(line)}`);
    expect(rulesOf(lines)).toEqual(expected);
  });

  test("the rules find words that were given up, each where it is refused", () => {
    const lines = [
      "It ends a worker's stay.",
      "It is one worker's life.",
      "It is a worker session.",
      "The string of seed 000.",
      "The surplus goes back.",
      "A session that waits.",
      "What was there stays, and so does the seed of a run.",
    ];
    const placesIn = (path: string): string[] =>
      findIn([{ path, lines }])
        .filter(({ rule }) => rule === "retired")
        .map(({ place }) => place);
    expect(placesIn("page.md")).toEqual([1, 2, 3, 4, 5].map((line) => `page.md:${String(line)}`));
    expect(placesIn("docs/concepts.md")).not.toContain("docs/concepts.md:3");
    expect(placesIn("shared/worker/run.ts")).toContain("shared/worker/run.ts:6");
  });

  test("the rules find references to promises and design sections, and no other numbers", () => {
    expect(rulesOf(["It holds (P7).", "See design 10.3.", "See UTF8 and figure 3."])).toEqual([
      "dangling page.md:1",
      "dangling page.md:2",
    ]);
  });

  test("the rules find a sentence of 26 words, not two of 25", () => {
    const sentence = (count: number): string => `${"word ".repeat(count).trim()}.`;
    expect(rulesOf([sentence(26)])).toEqual(["long page.md"]);
    expect(rulesOf([sentence(25), sentence(25)])).toEqual([]);
    expect(rulesOf([`| ${"word ".repeat(20)}|`, `| ${"word ".repeat(20)}|`])).toEqual([]);
  });

  test("the rules find a cell of 26 words, not a row of two cells of 25", () => {
    const cell = (count: number): string => `${"word ".repeat(count)}|`;
    expect(rulesOf([`| name | ${cell(26)}`])).toEqual(["long page.md"]);
    expect(rulesOf([`| ${cell(25)} ${cell(25)}`])).toEqual([]);
  });
});

describe("the readers", () => {
  test("the reader of pages leaves code and names out", () => {
    const page = "Text of `somebody`.\n```sql\n-- nobody\n```\nMore.";
    expect(readMarkdown(page)).toEqual(["Text of x.", "", "", "", "More."]);
  });

  test("the reader of SQL takes comments and sentences", () => {
    expect(readSql("SELECT 1 -- one\nSELECT N'two', 'it''s a third one', N'a')")).toEqual([
      " one",
      ". it's a third one .",
    ]);
    const rule = [
      { path: "shared/rules.sql", lines: readSql("(select 'S4 a wave has who asks')") },
    ];
    expect(findIn(rule).map(({ text }) => text)).toEqual(["who asks", "S4"]);
  });

  test("the reader of comments takes those of TypeScript, and no code", () => {
    const code = 'const a = "x"; // one\n/**\n * two\n */\nconst b = 1; /* three */\nconst c = 2;';
    expect(readComments(code).map((line) => line.trim())).toEqual([
      "one",
      "",
      "two",
      "",
      "three",
      "",
    ]);
  });

  test("the reader of titles takes those on the line of the call and behind it", () => {
    const code =
      'test("one", f);\ntest(\n  "two",\n  f,\n);\ntestWith(setup)(\n  `three`,\n  f,\n);\ncall("four");';
    expect(readTitles(code).filter((line) => line !== "")).toEqual(["one", "two", "three"]);
  });
});
