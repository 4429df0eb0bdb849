import type { LockMode } from "../locks/modes";
import type { SqlValue } from "../values";
import type { Index } from "./index";

/** Told what a step touches of what connections share, by a search for steps that concern no other. */
export interface AccessRecorder {
  /** A connection begins a step. */
  begins(connection: {
    readonly id: number;
    readonly observed: number;
    readonly place: StepPlace;
  }): void;
  /** Entries of an index that begin with these values were looked for: the existing ones, their writers, and that no other exists. */
  reads(index: Index, start: readonly SqlValue[], sight: Sight): void;
  /** A snapshot is taken: its later reads are decided now. */
  takesSnapshot(): void;
  /** An entry comes, goes, or its row changes; also at the end of the transaction, when others may see it. */
  writes(index: Index, key: readonly SqlValue[], change: Change): void;
  /** A lock is asked for, queued for, or given back. What the own locks cover already isn't told. */
  locks(resource: string, mode: LockMode, what: LockTouch): void;
  /** A number is drawn that no other gets. */
  draws(name: string): void;
  /** The parts that this step has touched so far; `rewind` forgets later ones. */
  mark(): unknown;
  rewind(mark: unknown): void;
}

/** Where a connection stands. */
export interface StepPlace {
  readonly moduleName: string;
  readonly line: number;
}

/**
 * What a reader can tell. committed: the versions of its snapshot, whenever it looks. entries: which keys are there to be
 * locked, by any holder; the row only under its lock. all: also uncommitted ones.
 */
export type Sight = "committed" | "entries" | "all";

/** row: of an entry that stays for those who look for keys: its row is another one or gone, uncommitted. entry: it comes. */
export type Change = "row" | "entry" | "commit" | "rollback";

/** converts: U, which is held, becomes X. waits: into the queue, or out of it. */
export type LockTouch = "asks" | "converts" | "waits" | "returns";
