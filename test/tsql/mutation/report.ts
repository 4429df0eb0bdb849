import { formatTable } from "../../../shared/terminal/text-table";
import { entryOf, nameOf, placeOf } from "./equivalents";
import type { Equivalent, Judged } from "./equivalents";
import type { Outcome } from "./verdict";

/** The figures of a run, by procedure and by kind, and the unexplained rest. */
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
    ...formatStale(judged),
    ...formatNumbers(judged),
    formatScore(judged),
  ];
}

function formatStale({ stale }: Judged): string[] {
  if (stale.length === 0) return [];
  const lines = stale.map((entry) => `  ${nameOf(entry)} (${entry.verdict}) ${entry.reason}`);
  return [
    `Entries of known-survivors that match no survivor any more: ${stale.length}; remove them`,
    ...lines,
    "",
  ];
}

/** Entries with the edits that they are about, each edit with its place and its lines. */
export function formatEntries(
  edits: readonly ListedEdit[],
  entries: readonly Equivalent[],
): string[] {
  const explained = edits.map((edit) => ({ edit, entry: entryOf(edit, entries) }));
  return entries.flatMap((entry) =>
    formatList(
      `${nameOf(entry)} (${entry.verdict}) ${entry.reason}`,
      explained.filter((found) => found.entry === entry).map(({ edit }) => edit),
    ),
  );
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

/** What a list shows of an edit. */
type ListedEdit = Pick<Outcome, "file" | "line" | "nth" | "diff">;

/** Each with its place, its name in known-survivors and its lines. */
function formatList(title: string, edits: readonly ListedEdit[]): string[] {
  if (edits.length === 0) return [];
  const lines = edits.flatMap((edit) => [
    `  ${edit.file}:${edit.line}: ${nameOf(placeOf(edit))}`,
    ...edit.diff.map((text) => `    ${text}`),
  ]);
  return [`${title}: ${edits.length}`, ...lines, ""];
}
