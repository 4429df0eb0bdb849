import { formatDuration } from "../core/duration";
import type { Rate } from "../core/rate";
import { listMax } from "../admin/listing";
import type { Listing } from "../admin/listing";

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
}

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Numbers stand right. */
  readonly isNumber?: boolean;
}

const gap = "  ";

/** A table with one line per row, titles first; lines are cut at the terminal's width. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number | null,
): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.value(row))));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => line[index]?.length ?? 0)),
  );
  const lines = [columns.map((column) => column.title.toUpperCase()), ...cells].map((line) =>
    line
      .map((cell, index) => {
        const length = widths[index] ?? 0;
        return columns[index]?.isNumber === true ? cell.padStart(length) : cell.padEnd(length);
      })
      .join(gap)
      .trimEnd(),
  );
  return lines.map((line) => cutLine(line, width)).join("\n");
}

/** A line behind a list that was cut; nothing behind a whole one. `top`: the most that may be asked for. */
export function describeCut({ rows, more }: Listing<unknown>, top = listMax): string {
  if (!more) return "";
  const shown = String(rows.length);
  return rows.length >= top
    ? `\n\nThe first ${shown}; there may be more, but no list is longer.`
    : `\n\nThe first ${shown}; there are more: --most N shows up to ${String(top)}.`;
}

/** `name  value` lines with the values in one column. */
export function renderFacts(
  facts: readonly (readonly [string, string])[],
  width: number | null,
): string {
  const length = Math.max(...facts.map(([name]) => name.length));
  return facts
    .map(([name, value]) => cutLine(`${name.padEnd(length)}${gap}${oneLine(value)}`, width))
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

/** A counted number: counting stops at `most`. */
export function showCount(count: number, most = 10_000): string {
  return count >= most ? `${String(most)}+` : String(count);
}

/** `1 task waits`, `2 tasks wait`: the count with what is said of one and of several. */
export function showNumber(count: number, one: string, several: string): string {
  return `${showCount(count)} ${count === 1 ? one : several}`;
}

/** Text from outside must not start lines of its own or move the cursor. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, " ");
}

function cutLine(line: string, width: number | null): string {
  return width === null || line.length <= width
    ? line
    : `${line.slice(0, Math.max(1, width - 1))}…`;
}

/** A rate for people: `100 per 1 min, 2 at once`. */
export function showRate(rate: Rate | null): string {
  if (rate === null) return "none";
  return `${String(rate.count)} per ${formatDuration(rate.periodMs)}, ${String(rate.burst)} at once`;
}
