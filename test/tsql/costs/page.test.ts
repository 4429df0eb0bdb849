import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readPage } from "../../docs/markdown";

/*
 * Goal: the page of costs tells what is recorded. Method: each number in its column "after" is one of the record, as the page rounds it, or a
 * situation's log and versions together.
 */
const record = readFileSync(join(__dirname, "expected-life.txt"), "utf8").trimEnd().split("\n");

/** The figures of a line, and what its log and versions are together. */
function figuresOf(line: string): number[] {
  const figures = [...line.matchAll(/(?:: |, )([a-z' ]+?(?: per 20)?) ([\d.]+)(?=,|$)/g)].map(
    ([, what = "", count]) => ({ what, count: Number(count) }),
  );
  const of = (name: string): number => figures.find(({ what }) => what === name)?.count ?? NaN;
  return [...figures.map(({ count }) => count), of("log bytes") + of("version bytes")];
}

const known = record.flatMap(figuresOf);

/** Numbers of a cell, as written. */
const numbersOf = (cell: string): string[] =>
  cell.match(/\d[\d,]*(?:\.\d+)?/g)?.map((text) => text.replaceAll(",", "").replace(/\.$/, "")) ??
  [];

const isKnown = (text: string): boolean => {
  const decimals = text.split(".")[1]?.length ?? 0;
  return known.some((figure) => figure.toFixed(decimals) === text || String(figure) === text);
};

test("each figure of the page's column of today is one of the record", () => {
  const rows = readPage("docs/benchmarks/tsql-costs.md")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .slice(2);
  const after = rows.flatMap(([, what = "", , cell = ""]) =>
    numbersOf(cell).map((number) => ({ what, number })),
  );
  expect(after.length).toBeGreaterThan(150);
  expect(after.filter(({ number }) => !isKnown(number))).toEqual([]);
});
