import type { NumberedMutant } from "./choice";
import { diffOf } from "./edits";
import type { Mutant, MutantKind } from "./mutants";

/** What became of a mutant. */
export type Verdict =
  /** Something noticed it. */
  | { readonly kind: "killed"; readonly by: Killer; readonly where: string; readonly why: string }
  /** Everything that runs the edited statement was content: so many tests and cases. */
  | { readonly kind: "survived"; readonly tried: number }
  /** It wasn't tried: the difference is invisible (rules.ts). */
  | { readonly kind: "equivalent"; readonly why: string }
  /** Its tree is the shipped one. */
  | { readonly kind: "equal" }
  /** It can't be read. */
  | { readonly kind: "unreadable"; readonly why: string };

export type Killer =
  /** A test of the contract suite failed; findings of CheckInvariants are one of its ways to fail. */
  | "test"
  /** The engine refused the text: a rule of the model for shipped files is broken. */
  | "engine"
  /** More steps than a test may need: an endless loop. */
  | "steps"
  /** A test waits for a lock that is never released. */
  | "wait"
  /** A case with several callers found it. */
  | "case"
  /** A call costs something else: locks, rows, bytes. */
  | "cost"
  /** An operation does something else about a locked row. */
  | "held row"
  /** A random history of calls is answered otherwise, or leaves other rows. */
  | "history"
  /** An operation runs under settings that its session brought along. */
  | "settings"
  /** The caller of an operation that fails catches something else. */
  | "error";

/** A mutant and its verdict as plain data: what processes tell each other, and what --json writes. */
export interface Outcome {
  /** Like `procedures/Work.sql`. */
  readonly file: string;
  readonly line: number;
  readonly kind: MutantKind;
  readonly diff: readonly string[];
  /** Which of the mutants of this file with this diff, from 1: lines repeat themselves. */
  readonly nth: number;
  readonly verdict: Verdict;
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

/** What tells an edit from others, as long as its lines stay as they are. */
export function keyOf(edit: { readonly file: string; readonly diff: readonly string[] }): string {
  return [edit.file, ...edit.diff].join("\n");
}
