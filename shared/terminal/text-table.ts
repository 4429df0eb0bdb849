import type { ResultTable } from "../ports/result-table";
import { cutToWidth, padToWidth, printable, textWidth } from "./text-width";

/** Blanks between two columns. */
const gap = 3;
const indent = "  ";

/** A table as lines of at most `width` cells: title, heads, a rule, rows. */
export function formatTable(table: ResultTable, width: number): string[] {
  const decimals = table.columns.map((_, at) => decimalsOf(table.rows.map((row) => row[at])));
  const cells = table.rows.map((row) =>
    row.map((value, at) => printable(formatCell(value, decimals[at] ?? 0))),
  );
  const widths = table.columns.map((column, at) =>
    Math.max(textWidth(column.title), ...cells.map((row) => textWidth(row[at] ?? ""))),
  );
  const line = (texts: readonly string[]): string => {
    const parts = table.columns.map((column, at) =>
      padToWidth(texts[at] ?? "", widths[at] ?? 0, column.isNumber ? "left" : "right"),
    );
    return cutToWidth((indent + parts.join(" ".repeat(gap))).trimEnd(), width);
  };
  const rule = widths.map((cellWidth) => "-".repeat(cellWidth));
  const body = cells.length === 0 ? [`${indent}(empty)`] : cells.map(line);
  return [table.title, line(table.columns.map((column) => column.title)), line(rule), ...body];
}

/** So many digits behind the point that points stand below each other. */
function decimalsOf(values: readonly (string | number | undefined)[]): number {
  const lengths = values.map((value) => String(value).split(".")[1]?.length ?? 0);
  return values.every((value) => typeof value === "number") ? Math.max(0, ...lengths) : 0;
}

function formatCell(value: string | number, decimals: number): string {
  if (typeof value === "string") return value;
  // Grouped by hand: the result must not depend on the language of the machine.
  const [whole = "", fraction] = value.toFixed(decimals).split(".");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
