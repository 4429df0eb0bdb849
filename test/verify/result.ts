/** One row of the table at the end. */
export interface ResultRow {
  readonly step: string;
  /** The subject of a check. */
  readonly what: string;
  readonly status: RowStatus;
  /** One line. */
  readonly summary: string;
  /** All that a reader needs to see why: failures, differences. */
  readonly details: readonly string[];
  /** On the endpoint that isn't SQL Server this row says nothing. */
  readonly meansNothingHere: boolean;
}

/**
 * passed and failed speak for themselves. incomplete: there was no time for all. skipped: the server or the login doesn't
 * allow it, the summary names the missing right. told: a figure or a fact, neither good nor bad.
 */
export type RowStatus = "passed" | "failed" | "incomplete" | "skipped" | "told";

/** What a step gives; the step's name is added. */
export type StepRow = Omit<ResultRow, "step" | "meansNothingHere">;

/** All of it. */
export interface VerifyResult {
  readonly server: string;
  readonly isSimulated: boolean;
  readonly rows: readonly ResultRow[];
  /** The user pressed Ctrl-C. */
  readonly isStopped: boolean;
  readonly seconds: number;
}

/** In one word: what the process's exit code says. */
export function verdictOf({ rows, isStopped }: VerifyResult): "passed" | "failed" | "incomplete" {
  if (rows.some(({ status }) => status === "failed")) return "failed";
  if (isStopped || rows.some(({ status }) => status === "incomplete")) return "incomplete";
  return "passed";
}

const simulatedNote = [
  "This was NOT SQL Server but our own endpoint over a model of it. It shows that this program runs, and that",
  "the product runs through its real driver. Rows marked * say nothing here: a model agrees with itself, has no",
  "optimizer and no deadlock monitor, and its speed is that of an interpreter.",
];

/** For people: a table, and below it why. */
export function printResult(result: VerifyResult): string {
  const { rows, server, isSimulated, seconds } = result;
  const cells = rows.map((row) => [
    `${row.step}${row.meansNothingHere ? " *" : ""}`,
    row.what,
    row.status,
    row.summary,
  ]);
  const widths = [0, 1, 2].map((at) => Math.max(...cells.map((line) => (line[at] ?? "").length)));
  const table = cells.map((line) =>
    line.map((cell, at) => (at < 3 ? cell.padEnd(widths[at] ?? 0) : cell)).join("  "),
  );
  const details = rows
    .filter((row) => row.details.length > 0)
    .flatMap((row) => ["", `${row.step}, ${row.what}:`, ...row.details.map(indented)]);
  return [
    server,
    "",
    ...table,
    ...details,
    "",
    ...(isSimulated ? [...simulatedNote, ""] : []),
    `${verdictOf(result)} in ${String(Math.round(seconds))} s${result.isStopped ? ", stopped on request" : ""}`,
  ].join("\n");
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
