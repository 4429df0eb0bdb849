import type { MutantKind } from "./mutants";
import type { NamedEdit } from "./numbered-mutant";

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
export interface Outcome extends NamedEdit {
  readonly line: number;
  readonly kind: MutantKind;
  readonly verdict: Verdict;
}
