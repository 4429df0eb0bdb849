import { diffOf } from "./edits";
import type { Mutant } from "./mutants";

/** An edit with its place among those of the same diff. */
export interface NamedEdit {
  /** Like `procedures/Work.sql`. */
  readonly file: string;
  readonly diff: readonly string[];
  /** Which of the mutants of this file with this diff, from 1: lines repeat themselves. */
  readonly nth: number;
}

/** A mutant and its place among those with the same diff. */
export interface NumberedMutant {
  readonly mutant: Mutant;
  readonly nth: number;
}

/** Mutants with their places among those of the same diff. */
export function numberMutants(mutants: readonly Mutant[]): NumberedMutant[] {
  const seen = new Map<string, number>();
  return mutants.map((mutant) => {
    const key = keyOf({ file: mutant.source.name, diff: diffOf(mutant.source, mutant.edits) });
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return { mutant, nth };
  });
}

/** What tells it from all others, and can be printed. */
export function toEdit({ mutant, nth }: NumberedMutant): NamedEdit {
  const { source, edits } = mutant;
  return { file: source.name, diff: diffOf(source, edits), nth };
}

/** What tells an edit from others, as long as its lines stay as they are. */
export function keyOf(edit: { readonly file: string; readonly diff: readonly string[] }): string {
  return [edit.file, ...edit.diff].join("\n");
}
