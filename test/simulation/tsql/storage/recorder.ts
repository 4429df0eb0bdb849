import type { LockMode } from "../locks/modes";
import type { SqlValue } from "../values";
import type { Index } from "./index";

/** Told what a step touches of what connections share, by a search that wants to know which steps concern nobody else. */
export interface AccessRecorder {
  /** A connection begins a step. */
  begins(connection: {
    readonly id: number;
    readonly observed: number;
    readonly place: StepPlace;
  }): void;
  /** Entries of an index that begin with these values were looked for: those that are there, and that no other is. */
  reads(index: Index, start: readonly SqlValue[]): void;
  /** A snapshot is taken: what is read by it later is decided now. */
  takesSnapshot(): void;
  /** An entry comes, goes, or its row changes; also at the end of the transaction, when others may see it. */
  writes(index: Index, key: readonly SqlValue[]): void;
  /** A lock is asked for, queued for, or given back. */
  locks(resource: string, mode: LockMode): void;
  /** A number is drawn that nobody else gets. */
  draws(name: string): void;
  /** What this step has touched so far; `rewind` forgets what came after. */
  mark(): unknown;
  rewind(mark: unknown): void;
}

/** Where a connection stands. */
export interface StepPlace {
  readonly moduleName: string;
  readonly line: number;
}
