import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import { numbersOf, readBehaviours, readWeaknesses, root } from "../source-texts/read-behaviours";
import type { Behaviour } from "../source-texts/read-behaviours";
import { postgresLockScenes } from "../source-texts/scenes/locks-postgres";
import { tsqlLockScenes } from "../source-texts/scenes/locks-tsql";
import { scenes } from "../source-texts/scenes/scenes";

/*
 * docs/internals/source-behaviours.md says of each behaviour of the source texts which test proves it. Here that table is compared
 * with the titles of all tests: what it calls proved has a title that carries the number, and no number is missing.
 */
const counts = { S0: 20, S1: 12, S2: 12, S3: 11, S4: 16 } as const;
const all = Object.entries(counts).flatMap(([text, count]) =>
  Array.from({ length: count }, (_, index) => `${text}.${String(index + 1)}`),
);

/** Texts in the tests: titles, of one test or of many, among others. */
function readTexts(): string[] {
  const files = globSync(["test/**/*.ts"], {
    cwd: root,
    ignore: ["test/static/source-texts.test.ts", "test/source-texts/**"],
  });
  const text = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
  return files
    .flatMap(
      (file) =>
        readFileSync(join(root, file), "utf8")
          .replace(/^\s*(\/\/|\*|\/\*).*$/gm, "")
          .match(text) ?? [],
    )
    .map((literal) => literal.slice(1, -1).replace(/\\(["'`])/g, "$1"));
}

/** Scenes keep their numbers and their titles apart. */
const sceneTitles = [...scenes, ...postgresLockScenes, ...tsqlLockScenes].map(
  ({ numbers, title }) => `${title} (${numbers})`,
);

/** Without its numbers, which stand at the end; the sign for a value is the same in the table (`N`) and in the source (`%i`, `${limit}`). */
function skeleton(title: string): string {
  return title
    .replace(/ \((?:S\d\.\d+(?:, | to |\)))+$/, "")
    .replace(/%[a-z]|\$\{[^}]*\}|\bN\b/g, "*")
    .replace(/\s+/g, " ")
    .trim();
}

const rows = readBehaviours();
const texts = [...readTexts(), ...sceneTitles];
/** Those that name a behaviour, as `what holds (S1.3, S1.8)`. */
const titles = texts.filter((text) => /\bS[0-4]\.\d+\b/.test(text));
const carried = new Set(titles.flatMap(numbersOf));
const quotesOf = (row: Behaviour): string[] =>
  [...row.proof.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
const proved = rows.filter((row) => quotesOf(row).length > 0);

describe("the table of the source texts' behaviours", () => {
  test("the table has each of the 71 once, in order", () => {
    expect(rows.map((row) => row.number)).toEqual(all);
    expect(all).toHaveLength(71);
  });

  test("the table says of each which test proves it", () => {
    expect(rows.filter((row) => quotesOf(row).length === 0)).toEqual([]);
  });

  test("each number that is proved stands in the title of a test", () => {
    expect(proved.map((row) => row.number).filter((number) => !carried.has(number))).toEqual([]);
  });

  test("each number in a title is listed as proved", () => {
    const listed = new Set(proved.map((row) => row.number));
    expect([...carried].filter((number) => !listed.has(number)).sort()).toEqual([]);
  });

  test("each title that it quotes exists and carries the number", () => {
    const known = titles.map((title) => ({ text: skeleton(title), numbers: numbersOf(title) }));
    const wrong = proved.flatMap((row) =>
      quotesOf(row)
        .filter((quote) => {
          const wanted = skeleton(quote);
          return !known.some(
            ({ text, numbers }) => text.startsWith(wanted) && numbers.includes(row.number),
          );
        })
        .map((quote) => `${row.number}: ${quote}`),
    );
    expect(wrong).toEqual([]);
  });

  test("the comparison finds a number without a proof, and one that is proved in secret", () => {
    expect(numbersOf("the limit changes (S0.3 to S0.6, S1.2)")).toEqual([
      "S0.3",
      "S0.4",
      "S0.5",
      "S0.6",
      "S1.2",
    ]);
    expect(carried.has("S9.1")).toBe(false);
    expect(skeleton("limit %i holds")).toBe(skeleton("limit N holds"));
  });
});

describe("the table of Taskling's weaknesses", () => {
  const weaknesses = readWeaknesses();

  test("the table of weaknesses has each of the 22 once, in order", () => {
    expect(weaknesses.map((row) => row.number)).toEqual(
      Array.from({ length: 22 }, (_, index) => String(index + 1)),
    );
  });

  test("each title that it quotes exists", () => {
    const known = texts.map(skeleton);
    const wrong = weaknesses.flatMap(quotesOf).filter((quote) => {
      const wanted = skeleton(quote);
      return !known.some((text) => text.startsWith(wanted));
    });
    expect(wrong).toEqual([]);
    expect(weaknesses.flatMap(quotesOf).length).toBeGreaterThan(15);
  });
});
