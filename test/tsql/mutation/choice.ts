import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Mutant } from "./mutants";
import { keyOf, toEdit } from "./numbered-mutant";
import type { NamedEdit, NumberedMutant } from "./numbered-mutant";
import { whyEquivalent } from "./rules";
import type { Source } from "./source";

/** Which mutants to try. */
export interface Choice {
  /** Parts of the names of files, and kinds of edits; none: all. */
  readonly files: readonly string[];
  readonly kinds: readonly string[];
  /**
   * At most so many unjudged ones, the same for the same seed, and numbers only if asked for;
   * undefined: all of them.
   */
  readonly sample: number | undefined;
  readonly seed: string;
}

/** Those that fit. */
export function choose(
  all: readonly NumberedMutant[],
  choice: Choice,
  isExplained: (edit: NamedEdit) => boolean,
): NumberedMutant[] {
  const { files, kinds, sample, seed } = choice;
  const fitting = all.filter(
    ({ mutant }) =>
      (files.length === 0 || files.some((name) => mutant.source.name.includes(name))) &&
      (kinds.length === 0 || kinds.includes(mutant.kind)),
  );
  if (sample === undefined) return fitting;
  return fitting
    .filter(({ mutant }) => mutant.kind !== "number" || kinds.includes("number"))
    .filter(({ mutant }) => whyEquivalent(mutant) === undefined)
    .map((numbered) => ({ numbered, edit: toEdit(numbered) }))
    .filter(({ edit }) => !isExplained(edit))
    .map(({ numbered, edit }) => ({ numbered, rank: rankOf(edit, seed) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, sample)
    .map(({ numbered }) => numbered);
}

/** By the edit alone: an edit that is made elsewhere doesn't change the rest of a sample. */
function rankOf(edit: NamedEdit, seed: string): string {
  return createHash("sha256")
    .update(`${seed} ${keyOf(edit)} ${edit.nth}`)
    .digest("hex");
}

/** Those that were unnoticed and unjudged when `path` was written. */
export function keepSurvivors(all: readonly NumberedMutant[], path: string): NumberedMutant[] {
  const { unexplained } = JSON.parse(readFileSync(path, "utf8")) as {
    readonly unexplained: readonly NamedEdit[];
  };
  const wanted = new Set(unexplained.map((edit) => `${keyOf(edit)} ${edit.nth}`));
  return all.filter((numbered) => {
    const edit = toEdit(numbered);
    return wanted.has(`${keyOf(edit)} ${edit.nth}`);
  });
}

/** Own edits from a file: each replaces one place, which must be the only one. */
export function readOwnEdits(sources: readonly Source[], path: string): NumberedMutant[] {
  const wanted = JSON.parse(readFileSync(path, "utf8")) as OwnEdit[];
  return wanted.map((edit) => {
    const source = sources.find(({ name }) => name === edit.file);
    if (source === undefined) throw new Error(`${path}: there is no file ${edit.file}`);
    const start = source.text.indexOf(edit.from);
    if (start < 0 || source.text.includes(edit.from, start + 1)) {
      throw new Error(`${path}: expected ${edit.file} to have ${JSON.stringify(edit.from)} once`);
    }
    return {
      mutant: toMutant(source, { start, end: start + edit.from.length, text: edit.to }),
      nth: 1,
    };
  });
}

interface OwnEdit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

function toMutant(source: Source, edit: Mutant["edits"][number]): Mutant {
  return {
    source,
    kind: "own",
    line: source.lineOf(edit.start),
    edits: [edit],
    statementId: source.statementAt(edit)?.statement.statementId,
  };
}
