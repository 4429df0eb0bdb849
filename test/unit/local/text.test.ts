import { expect, test } from "@jest/globals";
import { formatTable } from "../../../shared/terminal/text-table";
import {
  cutToWidth,
  padToWidth,
  printable,
  printableLines,
  textWidth,
} from "../../../shared/terminal/text-width";

const red = (text: string) => `\u001b[31m${text}\u001b[0m`;

test.each([
  ["abc", 3],
  [red("abc"), 3],
  ["日本", 4],
  ["é", 1],
  ["", 0],
])("%j takes %s cells", (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test.each([
  ["abcdef", 6, "abcdef"],
  ["abcdef", 5, "abc.."],
  ["日本語", 5, "日.."],
  ["abcdef", 1, "."],
  ["abcdef", 0, ""],
  [red("abcdef"), 4, "\u001b[31mab..\u001b[0m"],
])("%j cut to %s cells is %j", (text, width, cut) => {
  expect(cutToWidth(text, width)).toBe(cut);
});

test("texts are filled at either side", () => {
  expect(padToWidth("ab", 4)).toBe("ab  ");
  expect(padToWidth("ab", 4, "left")).toBe("  ab");
  expect(padToWidth("abcdef", 4)).toBe("abcdef");
});

test("a character that could move the cursor or turn the text around becomes harmless", () => {
  expect(printable("a\u001b[2Jb\nc\u202ed\u009b31m\u200fe")).toBe("a [2Jb c d 31m e");
  expect(printableLines("a\u001b[2Jb\nc\rd")).toBe("a [2Jb\nc d");
});

test("a table has its numbers at the right, points below points, and thousands apart", () => {
  const columns = [
    { title: "from", isNumber: false },
    { title: "flights", isNumber: true },
    { title: "delay", isNumber: true },
  ];
  const rows = [
    ["LAX", 1_234_567, 12],
    ["SFO", 7, -3.5],
  ];

  expect(formatTable({ title: "Delays", columns, rows }, 80)).toEqual([
    "Delays",
    "  from     flights   delay",
    "  ----   ---------   -----",
    "  LAX    1,234,567    12.0",
    "  SFO            7    -3.5",
  ]);
});

test("a table is never wider than the terminal, and an empty one says so", () => {
  const table = { title: "T", columns: [{ title: "a long title", isNumber: false }], rows: [] };

  expect(formatTable(table, 10)).toEqual(["T", "  a long..", "  ------..", "  (empty)"]);
});
