import { formatTable } from "../../../../shared/local/text-table";
import type { Judged } from "./equivalents";
import type { Outcome } from "./verdict";

/** The figures of a run, by procedure and by kind, and what is left to explain. */
export function formatReport(judged: Judged, width: number): string[] {
  return [
    ...formatTable(
      tally("By file", judged, ({ file }) => file),
      width,
    ),
    "",
    ...formatTable(
      tally("By kind of edit", judged, ({ kind }) => kind),
      width,
    ),
    "",
    ...formatList("Survivors that nobody has judged", judged.unexplained),
    ...formatList("Gaps: survivors that a test should kill", judged.gaps),
    ...formatList(
      "Entries of known-survivors that match no survivor any more: remove them",
      judged.stale.map((entry) => ({ ...entry, line: 0, nth: entry.nth ?? 0 })),
    ),
    ...formatNumbers(judged),
    formatScore(judged),
  ];
}

/** Outside the score: what changes a length or the number of an error by one is hardly ever worth a test. */
function formatNumbers({ numbers }: Judged): string[] {
  if (numbers.length === 0) return [];
  const { killed } = count(numbers);
  return [
    `numbers, one more and one less, outside the score: ${killed} of ${numbers.length} killed`,
  ];
}

/** Killed, of those that aren't equivalent; 1 where there are none. */
export function scoreOf(judged: Judged): number {
  const { killed } = count(judged.outcomes);
  const rest = judged.unexplained.length + judged.gaps.length;
  return killed + rest === 0 ? 1 : killed / (killed + rest);
}

function formatScore(judged: Judged): string {
  const { killed, equal, unreadable } = count(judged.outcomes);
  const { unexplained, gaps, equivalent } = judged;
  const percent = (scoreOf(judged) * 100).toFixed(1);
  return (
    `${percent} % killed: ${killed} of ${killed + unexplained.length + gaps.length}` +
    ` (besides: ${equivalent.length} equivalent, ${equal} without effect on the tree, ${unreadable} unreadable)`
  );
}

interface Counts {
  readonly killed: number;
  readonly equal: number;
  readonly unreadable: number;
}

function count(outcomes: readonly Outcome[]): Counts {
  const of = (kind: Outcome["verdict"]["kind"]): number =>
    outcomes.filter(({ verdict }) => verdict.kind === kind).length;
  return { killed: of("killed"), equal: of("equal"), unreadable: of("unreadable") };
}

type Table = Parameters<typeof formatTable>[0];

function tally(title: string, judged: Judged, nameOf: (outcome: Outcome) => string): Table {
  const names = [...new Set(judged.outcomes.map(nameOf))].sort();
  const numbers = ["made", "killed", "survived", "equivalent", "%"];
  const columns = [
    { title: "", isNumber: false },
    ...numbers.map((column) => ({ title: column, isNumber: true })),
  ];
  const rows = [...names, undefined].map((name) => {
    const isMine = (outcome: Outcome): boolean => name === undefined || nameOf(outcome) === name;
    const part: Judged = {
      outcomes: judged.outcomes.filter(isMine),
      unexplained: judged.unexplained.filter(isMine),
      gaps: judged.gaps.filter(isMine),
      equivalent: judged.equivalent.filter(isMine),
      numbers: [],
      stale: [],
    };
    const { killed, equal, unreadable } = count(part.outcomes);
    const survived = part.unexplained.length + part.gaps.length;
    const score = Math.round(scoreOf(part) * 1_000) / 10;
    const made = part.outcomes.length - equal - unreadable;
    return [name ?? "all", made, killed, survived, part.equivalent.length, score];
  });
  return { title, columns, rows };
}

/** Each with its place and its lines. */
function formatList(
  title: string,
  edits: readonly Pick<Outcome, "file" | "line" | "nth" | "diff">[],
): string[] {
  if (edits.length === 0) return [];
  const lines = edits.flatMap(({ file, line, nth, diff }) => [
    `  ${file}:${line}${nth > 1 ? ` (#${nth})` : ""}`,
    ...diff.map((text) => `    ${text}`),
  ]);
  return [`${title}: ${edits.length}`, ...lines, ""];
}
