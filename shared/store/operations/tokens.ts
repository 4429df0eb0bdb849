import type { ExecutionId, Fence } from "../../core/ids";
import { checkName, executionParameters } from "./checks";
import { bool, columns, fenceOrNull, int, intOrNull, names, oneOf, textOrNull } from "./columns";
import { operationsOf } from "./operation";

/* ---- Tokens: an execution may run as many tasks at once as it holds tokens ---- */

/** Tokens of an execution. */
export interface TokenOperations {
  /** Makes an execution hold up to `want` tokens. Idempotent: held tokens count. */
  acquireTokens(input: { executionId: ExecutionId; want: number }): Promise<AcquireTokensAnswer>;
  /** Gives tokens back until the execution holds at most `keep`. Idempotent. */
  releaseTokens(input: { executionId: ExecutionId; keep: number }): Promise<ReleaseTokensAnswer>;
  /**
   * Gives idle tokens back, down to the `keep` in use: as many as are held above the limit. Where none are, and another
   * worker was denied lately, it gives a part of what this execution holds more than others. Idempotent.
   */
  releaseSurplus(input: { executionId: ExecutionId; keep: number }): Promise<ReleaseSurplusAnswer>;
  /**
   * How many tokens a worker that asks now could be granted, and whether tasks wait for it. A caller that has added tasks asks
   * behind its commit: where it finds no token free, the execution that frees one finds the tasks.
   */
  readFreeTokens(input: ReadFreeTokensInput): Promise<ReadFreeTokensAnswer>;
}

export interface ReadFreeTokensInput {
  name: string;
  /** Of an earlier answer; null: none. */
  sinceFence: Fence | null;
}

const free = columns({
  status: oneOf("read", "unknown"),
  /** By the shared limits, too, up to 1000; 0 while paused; null: no limit, or not known just now. */
  free: intOrNull,
  /** Ready tasks, up to 100, or 1 for due ones; 0 where `free` is 0 or null. */
  ready: int,
  /** Others hold all tokens of a shared limit, and none of them is this definition's: a worker that asks is given one. */
  crowdedOut: bool,
  /** Calls that granted tokens since that fence, up to 1000. */
  grants: int,
  tokenFence: fenceOrNull,
});
/** Answer of `readFreeTokens`. */
export type ReadFreeTokensAnswer = ReturnType<typeof free>;

const acquired = columns({
  status: oneOf("granted", "limited", "paused", "fenced"),
  tokens: int,
  granted: int,
  tokenFence: fenceOrNull,
  retryInMs: intOrNull,
  deadHolders: int,
  /** When nothing was granted. noted: holders are asked to give a token, so retry soon. */
  demand: (row, column) => (textOrNull(row, column) === "noted" ? ("noted" as const) : null),
});
/** Answer of `acquireTokens`. */
export type AcquireTokensAnswer = ReturnType<typeof acquired>;

const released = columns({
  status: oneOf("released", "fenced"),
  tokens: int,
  freed: int,
  ready: bool,
  /** Other definitions whose tasks wait for a shared token that was freed: leave each a hint. */
  woken: names,
});
/** Answer of `releaseTokens`. */
export type ReleaseTokensAnswer = ReturnType<typeof released>;

const releasedOnRequest = columns({
  status: oneOf("released", "fenced"),
  tokens: int,
  freed: int,
  overLimit: int,
  /** Of the freed tokens those for a denied execution: leave a hint. */
  given: int,
  /** Other definitions that share a limit and have a denied execution that finds a token now: leave each a hint. */
  woken: names,
});
/** Answer of `releaseSurplus`. */
export type ReleaseSurplusAnswer = ReturnType<typeof releasedOnRequest>;

const operation = operationsOf<TokenOperations>();

/** Procedure `acquire_tokens`. */
export const acquireTokens = operation("acquireTokens", {
  right: "worker",
  parameters: { taskExecutionId: "bigint", want: "int", startId: "start" },
  bind: executionParameters,
  decode: acquired,
});

/** Procedure `release_tokens`. */
export const releaseTokens = operation("releaseTokens", {
  right: "worker",
  parameters: { taskExecutionId: "bigint", keep: "int", startId: "start" },
  bind: executionParameters,
  decode: released,
});

/** Procedure `release_surplus`. */
export const releaseSurplus = operation("releaseSurplus", {
  right: "worker",
  parameters: { taskExecutionId: "bigint", keep: "int", startId: "start" },
  bind: executionParameters,
  decode: releasedOnRequest,
});

/** Procedure `read_free_tokens`. */
export const readFreeTokens = operation("readFreeTokens", {
  right: "worker",
  parameters: { name: "text", sinceFence: "bigint" },
  check: (input) => {
    checkName(input.name);
    return input;
  },
  decode: free,
});
