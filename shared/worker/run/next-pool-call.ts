/** Tokens go back. part: of idle tokens that are too few for the next call. */
export type ReleaseCall = "releaseRequested" | "release" | "part";
/** A call of the database about the tokens of a pool. */
export type PoolCall = "start" | "acquire" | ReleaseCall;

/** A pool at one instant. */
export interface PoolView {
  /** Null: the pool has no execution. */
  readonly lease: { readonly count: number; readonly inUse: number } | null;
  /** Tokens that the first waiting call wants; null: none waits. */
  readonly firstWants: number | null;
  /** The database may be asked for tokens now. */
  readonly mayAsk: boolean;
  readonly wantedBack: number;
  /** Idle tokens that have been idle for long enough. */
  readonly idleDue: number;
  readonly isPaused: boolean;
}

/** What to ask the database; null: nothing. */
export function nextPoolCall(view: PoolView): PoolCall | null {
  const { lease, firstWants, mayAsk, wantedBack, idleDue, isPaused } = view;
  if (lease === null) return firstWants !== null && mayAsk ? "start" : null;
  // All were given to others, and no call waits for more.
  if (lease.count === 0 && firstWants === null) return "release";
  const idle = lease.count - lease.inUse;
  if (idle > 0 && wantedBack > 0) return "releaseRequested";
  // Too few for the next call, also when all bodies end, and more were denied: the idle ones go back at once. Processes that
  // each kept a part would wait for each other.
  if (idle > 0 && firstWants !== null && lease.count < firstWants && !mayAsk) return "part";
  if (idle > 0 && idleDue > 0) return "release";
  const isShort = firstWants !== null && idle < firstWants;
  return isShort && wantedBack === 0 && !isPaused && mayAsk ? "acquire" : null;
}

/** Tokens that stay when others go back. */
export function tokensKept(
  call: ReleaseCall,
  { count, inUse }: { readonly count: number; readonly inUse: number },
  { wantedBack, idleDue }: { readonly wantedBack: number; readonly idleDue: number },
): number {
  if (call === "part") return inUse;
  if (call === "release") return count - Math.min(idleDue, count - inUse);
  // The database decides: it takes the tokens above the limit, or at most half for others.
  return Math.max(inUse, Math.min(count - wantedBack, Math.ceil(count / 2)), 0);
}
