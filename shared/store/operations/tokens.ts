import type { ExecutionId, Fence } from "../../core/ids";
import { executionParameters } from "./checks";
import { bool, fenceOrNull, int, intOrNull, names, status, textOrNull } from "./columns";
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
}

export interface AcquireTokensAnswer {
  status: "granted" | "limited" | "paused" | "fenced";
  tokens: number;
  granted: number;
  tokenFence: Fence | null;
  retryInMs: number | null;
  deadHolders: number;
  /** When nothing was granted. noted: holders are asked to give a token, so retry soon. */
  demand: "noted" | null;
}

export interface ReleaseTokensAnswer {
  status: "released" | "fenced";
  tokens: number;
  freed: number;
  ready: boolean;
}

export interface ReleaseSurplusAnswer {
  status: "released" | "fenced";
  tokens: number;
  freed: number;
  overLimit: number;
  /** Of the freed tokens those for a denied execution: leave a hint. */
  given: number;
  /** Other definitions that share a limit and have a denied execution that finds a token now: leave each a hint. */
  woken: string[];
}

const operation = operationsOf<TokenOperations>();

/** Procedure `acquire_tokens`. */
export const acquireTokens = operation("acquireTokens", {
  parameters: { taskExecutionId: "bigint", want: "int", startId: "start" },
  bind: executionParameters,
  decode: (row) => ({
    status: status(row, ["granted", "limited", "paused", "fenced"]),
    tokens: int(row, "tokens"),
    granted: int(row, "granted"),
    tokenFence: fenceOrNull(row, "tokenFence"),
    retryInMs: intOrNull(row, "retryInMs"),
    deadHolders: int(row, "deadHolders"),
    demand: textOrNull(row, "demand") === "noted" ? "noted" : null,
  }),
});

/** Procedure `release_tokens`. */
export const releaseTokens = operation("releaseTokens", {
  parameters: { taskExecutionId: "bigint", keep: "int", startId: "start" },
  bind: executionParameters,
  decode: (row) => ({
    status: status(row, ["released", "fenced"]),
    tokens: int(row, "tokens"),
    freed: int(row, "freed"),
    ready: bool(row, "ready"),
  }),
});

/** Procedure `release_surplus`. */
export const releaseSurplus = operation("releaseSurplus", {
  parameters: { taskExecutionId: "bigint", keep: "int", startId: "start" },
  bind: executionParameters,
  decode: (row) => ({
    status: status(row, ["released", "fenced"]),
    tokens: int(row, "tokens"),
    freed: int(row, "freed"),
    overLimit: int(row, "overLimit"),
    given: int(row, "given"),
    woken: names(row, "woken"),
  }),
});
