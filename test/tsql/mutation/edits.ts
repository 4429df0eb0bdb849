import type { Source } from "./source";

/** The text from `start` to `end` becomes `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with all edits, which don't overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const fromTheEnd = [...edits].sort((a, b) => b.start - a.start);
  return fromTheEnd.reduce(
    (result, edit) => result.slice(0, edit.start) + edit.text + result.slice(edit.end),
    text,
  );
}

const diffs = new WeakMap<readonly Edit[], readonly string[]>();

/** The lines that differ: `- ` as shipped, `+ ` as edited; blanks at their ends are left out. Edits belong to one source. */
export function diffOf(source: Source, edits: readonly Edit[]): readonly string[] {
  const known = diffs.get(edits) ?? makeDiff(source, edits);
  diffs.set(edits, known);
  return known;
}

function makeDiff(source: Source, edits: readonly Edit[]): string[] {
  const before = source.text.split("\n");
  const after = applyEdits(source.text, edits).split("\n");
  let first = 0;
  while (before[first] === after[first]) first += 1;
  let same = 0;
  const max = Math.min(before.length, after.length) - first;
  while (same < max && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  const cut = (lines: readonly string[]): string[] =>
    lines.slice(first, lines.length - same).map((line) => line.trim());
  return [...cut(before).map((line) => `- ${line}`), ...cut(after).map((line) => `+ ${line}`)];
}
