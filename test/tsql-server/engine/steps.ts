import type { LockMode } from "../locks/modes";

/**
 * How the engine stops where another connection may go on: everything that may wait is a generator that yields a request
 * and gets a reply. What a request is about is computed when it is tried, since rows move while a connection waits.
 */
export type Steps<Result> = Generator<Request, Result, Reply>;

export type Request = LockPoint | PausePoint;

/** A lock that isn't held yet. */
export interface LockPoint {
  readonly kind: "lock";
  /** undefined: nothing is left to lock. */
  readonly resolve: () => Ask | undefined;
  readonly onConflict: OnConflict;
  /** Forgets what `resolve` has found: it is asked again when the turn comes. */
  readonly abandon?: () => void;
}

/** Another connection may run before the next step: a snapshot, a commit. */
export interface PausePoint {
  readonly kind: "pause";
  readonly reason: string;
}

/** wait in the queue; skip (READPAST); fail with 1222 (NOWAIT, LOCK_TIMEOUT 0). */
export type OnConflict = "wait" | "skip" | "fail";

export interface Ask {
  readonly resource: string;
  readonly mode: LockMode;
  /** Of a transaction's lock (L19): the key that was found under it. */
  readonly about?: string;
}

export interface Reply {
  readonly outcome: "granted" | "skipped" | "nothing";
  readonly ask: Ask | undefined;
  /** The lock held there before. */
  readonly before: LockMode | undefined;
}

export const nothingToLock: Reply = { outcome: "nothing", ask: undefined, before: undefined };

/** Is this a generator, or already the result? Most evaluations never wait, and those cost no generator. */
export function isSteps<Result>(value: Result | Steps<Result>): value is Steps<Result> {
  return typeof value === "object" && value !== null && "throw" in value && "next" in value;
}
