import { formatDuration, formatExactDuration } from "../core/duration";
import type { Rate } from "../core/rate";
import { listMax } from "../admin/listing";
import type { Listing } from "../admin/listing";
import { columnGap, fitColumns } from "./fit-columns";
import type { Fit, FittedColumn } from "./fit-columns";
import { cutToWidth, padToWidth, printable, textWidth } from "./text-width";
import { plainTheme } from "./theme";
import type { Theme } from "./theme";
import { wrapText } from "./wrap-text";

/** Where the program writes, and whether a person or a program reads it. */
export interface Output {
  /** Writes one line, or several, to standard output. */
  line(text: string): void;
  /** Writes to standard error. */
  error(text: string): void;
  /** Writes over the present line of standard error; absent where that is no terminal. */
  readonly rewrite?: (text: string) => void;
  /** Width of the terminal; null: no terminal, nothing is cut. */
  readonly columns: number | null;
  /** Colours of standard output; absent: none. */
  readonly theme?: Theme;
}

/** Where a text is shown. */
export type Screen = Pick<Output, "columns" | "theme">;

/** One column of a table. */
export interface Column<Row> extends Omit<FittedColumn, "width"> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** The colour of its cell; undefined: none. */
  readonly tone?: (row: Row) => keyof Theme | undefined;
}

const gap = " ".repeat(columnGap);
/** Before texts below a row. */
const indent = "    ";

/** A table with one row per entry, titles first. No line is longer than the terminal; columns that are left out are named below. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { columns: width, theme = plainTheme }: Screen,
): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))));
  const fitted = columns.map((column, index) => ({
    ...column,
    width: Math.max(column.title.length, ...cells.map((line) => textWidth(line[index] ?? ""))),
  }));
  const fit = fitColumns(fitted, width);
  const lineOf = (texts: readonly string[], paint: (text: string, index: number) => string) => {
    const parts = fit.beside.map((index, place) => {
      const room = fit.widths[index] ?? 0;
      const side = columns[index]?.isNumber === true ? "left" : "right";
      const text = cutToWidth(texts[index] ?? "", room);
      const isLast = place === fit.beside.length - 1 && side === "right";
      return paint(isLast ? text : padToWidth(text, room, side), index);
    });
    return cutLine(parts.join(gap), width).trimEnd();
  };
  const titles = columns.map((column) => column.title.toUpperCase());
  const lines = rows.flatMap((row, at) => {
    const texts = cells[at] ?? [];
    const paint = (text: string, index: number): string => {
      const tone = columns[index]?.tone?.(row);
      return tone === undefined || text.trim() === "" ? text : theme[tone](text);
    };
    return linesOfRow(texts, fit, width).map(({ isBelow, texts: shown }) =>
      isBelow ? indent + paint(shown[0] ?? "", fit.below ?? 0) : lineOf(shown, paint),
    );
  });
  return [
    lineOf(titles, (text) => (text.trim() === "" ? text : theme.faint(text))),
    ...lines,
    ...describeLeftOut(titles, fit, width),
  ].join("\n");
}

/** The lines of one row: cells beside each other, wrapped ones over several lines, or below. */
function linesOfRow(
  texts: readonly string[],
  { widths, beside, below }: Fit,
  width: number | null,
): { isBelow: boolean; texts: readonly string[] }[] {
  const last = beside.at(-1) ?? 0;
  if (below !== null) {
    const text = texts[below] ?? "";
    const wrapped = text === "" ? [] : wrapText(text, (width ?? Infinity) - indent.length);
    return [
      { isBelow: false, texts },
      ...wrapped.map((line) => ({ isBelow: true, texts: [line] })),
    ];
  }
  const [first = "", ...more] = wrapText(texts[last] ?? "", widths[last] ?? 0);
  return [
    { isBelow: false, texts: texts.with(last, first) },
    ...more.map((line) => ({
      isBelow: false,
      texts: texts.map((_, index) => (index === last ? line : "")),
    })),
  ];
}

function describeLeftOut(titles: readonly string[], fit: Fit, width: number | null): string[] {
  if (fit.leftOut.length === 0) return [];
  const names = fit.leftOut.map((index) => (titles[index] ?? "").toLowerCase()).join(", ");
  return ["", ...wrapText(`Left out in this narrow terminal: ${names}.`, width ?? Infinity)];
}

/** A line behind a list that was cut; nothing behind a whole one. `top`: the most that may be asked for. */
export function describeCut({ rows, more }: Listing<unknown>, top = listMax): string {
  if (!more) return "";
  const shown = String(rows.length);
  return rows.length >= top
    ? `\n\nThe first ${shown}; there may be more, but no list is longer.`
    : `\n\nThe first ${shown}; there are more: --max N shows up to ${String(top)}.`;
}

/** `name  value` lines with the values in one column. */
export function renderFacts(
  facts: readonly (readonly [string, string])[],
  width: number | null,
): string {
  const length = Math.max(...facts.map(([name]) => name.length));
  return facts
    .map(([name, value]) => cutLine(`${name.padEnd(length)}${gap}${printable(value)}`, width))
    .join("\n");
}

/** A limit for people. */
export function showLimit(limit: number | null): string {
  return limit === null ? "none" : String(limit);
}

/** A duration for people, or `-`. */
export function showDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "-";
  return ms < 0 ? `-${formatDuration(ms)}` : formatDuration(ms);
}

/** An instant in UTC, to the second. */
export function showInstant(text: string | null | undefined): string {
  return text === null || text === undefined ? "-" : `${text.slice(0, 19).replace("T", " ")}Z`;
}

export { showCount } from "../core/counted";

/** `1 task waits`, `2 tasks wait`: an exact number with the text for one or for several. */
export function showNumber(count: number, one: string, several: string): string {
  return `${String(count)} ${count === 1 ? one : several}`;
}

function cutLine(line: string, width: number | null): string {
  return width === null ? line : cutToWidth(line, width);
}

/** A rate for people: `100 per 1 min, 2 at once`. */
export function showRate(rate: Rate | null): string {
  if (rate === null) return "none";
  return `${String(rate.count)} per ${formatExactDuration(rate.periodMs)}, ${String(rate.burst)} at once`;
}
