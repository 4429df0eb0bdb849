import type { Fence } from "../../core/ids";
import { joinSignals } from "../../core/join-signals";
import type { JoinedSignal } from "../../core/join-signals";
import { limits } from "../../core/limits";
import { checkInteger } from "../../core/text";
import type { DenialReason } from "./ask-outlook";
import { hasRate } from "./call-limits";
import type { CallLimits } from "./call-limits";
import type { LimitPool } from "./limit-pool";
import type { LimitPools } from "./limit-pools";
import type { HeldCall } from "./token-lease";

/** How one call takes its tokens. */
export interface WithTokensOptions {
  /** Tokens that this call runs on: 1..1000, default 1. All of them, or none. */
  want?: number;
  /**
   * The longest wait of the call in this process, first come, first served: 0..86,400,000 ms, default 0: until the first answer of
   * the database. A longer wait never ends before an answer that is on its way. `gate.withTokens` gives a database that says nothing up
   * 4 s later.
   */
  waitMs?: number;
  /** Ends the wait; handed on to the body's signal. */
  signal?: AbortSignal;
}

/** The body's view of its tokens. */
export interface TokenContext {
  /** Aborted when the lease is lost, the process ends or the caller's signal is aborted: stop soon. */
  readonly signal: AbortSignal;
  readonly tokens: number;
  /**
   * Grows with every grant of this limit, or of this list of limits, to any process; calls of one process may share one. For systems
   * that can fence. Each other list, and each message that has become a task, counts for itself: such fences can't be compared.
   */
  readonly fence: Fence | null;
}

/** The outcome of a call. Denied calls are values: `retryInMs`, 0..30,000, says when another try makes sense. */
export type WithTokensAnswer<Result> =
  | { readonly ran: true; readonly value: Result }
  | { readonly ran: false; readonly reason: DenialReason; readonly retryInMs: number };

/**
 * Runs `body` on tokens of a shared limit, or of several, over all instances and apps that share the database, or says why
 * not. Of several limits each gives `want` tokens in the same decision, or none does: a call that waits holds nothing. The
 * calls of one process share its tokens; the tokens of this call are held until `body` has settled, also when it throws. What
 * the body throws is thrown. The caller has looked at the options (`checkCallOptions`): once, where all calls have the same. Throws
 * InvalidArgumentError for what `listLimits` refuses, and what the store throws when it can't be reached.
 */
export async function withTokens<Result>(
  pools: LimitPools,
  { limit, ...options }: WithTokensOptions & { limit: CallLimits },
  body: (context: TokenContext) => Promise<Result>,
): Promise<WithTokensAnswer<Result>> {
  const { want = 1, waitMs = 0, signal } = options;
  const pool = pools.of(limit);
  try {
    const taken = pool.take({ want, waitMs, signal });
    const held = taken instanceof Promise ? await taken : taken;
    if ("reason" in held) return { ran: false, reason: held.reason, retryInMs: held.retryInMs };
    return { ran: true, value: await runHeld(pool, held, { signal, body }) };
  } finally {
    if (hasRate(limit)) await pools.leave(pool);
  }
}

/** Throws InvalidArgumentError, naming the option, for a number that is out of its range. */
export function checkCallOptions(options: Pick<WithTokensOptions, "want" | "waitMs">): void {
  const { want = 1, waitMs = 0 } = options;
  checkInteger("want", want, { min: 1, max: limits.tokensMax });
  checkInteger("waitMs", waitMs, { min: 0, max: limits.tokenWaitMsMax });
}

async function runHeld<Result>(
  pool: LimitPool,
  held: HeldCall,
  run: { signal: AbortSignal | undefined; body: (context: TokenContext) => Promise<Result> },
): Promise<Result> {
  const { tokens, fence, stop } = held;
  const { signal, body } = run;
  let joined: JoinedSignal | undefined;
  const context: TokenContext = {
    tokens,
    fence,
    // Made when the body asks for it: most bodies never do.
    get signal() {
      if (signal === undefined) return stop.signal;
      joined ??= joinSignals(stop.signal, signal);
      return joined.signal;
    },
  };
  try {
    return await body(context);
  } finally {
    joined?.leave();
    pool.giveBack(held);
  }
}
