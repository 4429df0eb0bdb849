import { describe, expect, test } from "@jest/globals";
import { errorColumn } from "../../../shared/cli/error-column";
import { fitColumns } from "../../../shared/terminal/fit-columns";
import { renderTable } from "../../../shared/terminal/output";
import type { Column } from "../../../shared/terminal/output";
import { textWidth } from "../../../shared/terminal/text-width";
import { widthOf } from "../../../shared/terminal/terminal-width";
import { chooseTheme, plainTheme } from "../../../shared/terminal/theme";
import { wrapText } from "../../../shared/terminal/wrap-text";

const error = "duplicate key value violates unique constraint pk_orders of table orders";
const columns: Column<{ id: string }>[] = [
  { title: "task", value: (row) => row.id, isNumber: true },
  { title: "created", value: () => "2026-11-23 16:29:13Z", isSpare: true },
  { title: "worker", value: () => "local-1 host-with-a-long-name 4711" },
  { title: "error", value: () => error, wraps: true, tone: () => "bad" },
];
const show = (width: number | null, theme = plainTheme): string =>
  renderTable([{ id: "17" }], columns, { columns: width, theme });

describe("a table in a narrow terminal", () => {
  test("a table in a narrow terminal has every word of its error at every width, and no line is longer than the terminal", () => {
    for (let width = 30; width <= 160; width += 1) {
      const text = show(width);
      for (const line of text.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
      const words = text.split(/\s+/);
      expect([width, error.split(" ").filter((word) => !words.includes(word))]).toEqual([
        width,
        [],
      ]);
    }
  });

  test("a table in a narrow terminal wraps the error first, then leaves out spare columns and says so, then puts the error below", () => {
    expect(show(null).split("\n")).toHaveLength(2);
    expect(show(100)).toMatch(
      /^TASK +CREATED +WORKER +ERROR\n +17 .*duplicate key value violates unique\n {60,}constraint/,
    );
    expect(show(70)).toMatch(
      /^TASK +WORKER +ERROR\n(.*\n)+\nLeft out in this narrow terminal: created\.$/,
    );
    expect(show(50)).toMatch(/^TASK +WORKER\n +17 .*\n {4}duplicate key .*\n {4}.*\n\nLeft out/);
    expect(show(30)).toMatch(/^TASK +WORKER\n +17 {2}local-1 host-with-a-lo\.\.\n {4}duplicate/);
  });

  test("a table in a narrow terminal keeps its width when it is coloured", () => {
    const theme = chooseTheme({ isTTY: true }, {});
    const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    for (const width of [40, 80, 120])
      expect(show(width, theme).replaceAll(colours, "")).toBe(show(width));
    expect(show(80, theme)).toContain("\u001b[31mduplicate");
  });

  test("numbers are never cut", () => {
    const numbers = Array.from({ length: 5 }, () => ({ width: 12, isNumber: true }));
    expect(fitColumns(numbers, 20).widths).toEqual([12, 12, 12, 12, 12]);
  });
});

test("wrapText breaks between words, and inside a word that is longer than the line", () => {
  expect(wrapText("a bc def", 4)).toEqual(["a bc", "def"]);
  expect(wrapText("abcdefgh i", 3)).toEqual(["abc", "def", "gh", "i"]);
  expect(wrapText("漢字漢", 4)).toEqual(["漢字", "漢"]);
  expect(wrapText("", 4)).toEqual([""]);
});

test.each([
  [true, 110, 110],
  [true, 0, null],
  [false, 80, null],
])("a stream that is a terminal (%s) of %d columns is %p wide", (isTTY, columns, expected) => {
  expect(widthOf({ isTTY, columns })).toBe(expected);
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { TERM: "dumb" }, false],
  [false, { FORCE_COLOR: "1" }, true],
  [true, { FORCE_COLOR: "0" }, false],
  [true, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
])("terminal %s with %j is coloured: %s", (isTTY, environment, isColoured) => {
  expect(chooseTheme({ isTTY }, environment).bad("x") !== "x").toBe(isColoured);
});

test("a list of tasks tells the first line of an error, not its stack", () => {
  const rows = [{ error: "Error: refused\n    at send (mail.ts:3:9)" }, { error: null }, {}];
  const text = renderTable(rows, [errorColumn], { columns: null, theme: plainTheme });
  expect(text.split("\n").map((line) => line.trim())).toEqual(["ERROR", "Error: refused", "", ""]);
});
