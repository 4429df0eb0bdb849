import { StoreContractError } from "../../core/errors";
import { limits } from "../../core/limits";
import { formatTokens, parseTokens } from "../../core/token";
import { asFence } from "../../core/ids";
import type { ExecutionId } from "../../core/ids";
import type { Token } from "../../core/token";
import type { Random } from "../../ports/random";
import type {
  AcquireTokensAnswer,
  ReleaseSurplusAnswer,
  ReleaseTokensAnswer,
} from "../../ports/task-store";
import { expectRange } from "./arguments";
import { definitionOf, hasReady, limitOf } from "./rows";
import type { DefinitionRow, ExecutionRow, Model } from "./state";

/**
 * The tokens of one definition while they change: read from its string, written back with
 * `toString`.
 */
export class TokenPool {
  readonly #tokens: Token[];
  readonly #random: Random;

  constructor(definition: DefinitionRow, random: Random) {
    this.#tokens = tokensOf(definition);
    this.#random = random;
  }

  /** Tokens held by all. */
  get held(): number {
    return this.#tokens.filter((token) => token.isHeld).length;
  }

  /** Tokens held by one. */
  heldBy(grantee: string): number {
    return this.#tokens.filter((token) => token.isHeld && token.grantee === grantee).length;
  }

  /** Who holds tokens, each once. */
  get holders(): string[] {
    const grantees = this.#tokens.filter((token) => token.isHeld).map((token) => token.grantee);
    return [...new Set(grantees)];
  }

  /**
   * Frees tokens until the grantee holds at most `keep`, last granted first; their grantee stays
   * readable (S0.17).
   */
  giveBack(grantee: string, keep: number): number {
    const own = this.#tokens.filter((token) => token.isHeld && token.grantee === grantee);
    const freed = own.slice(keep);
    for (const token of freed) token.isHeld = false;
    return freed.length;
  }

  /**
   * Frees the tokens of the dead under new ids: what an old holder says of its token matches
   * nothing (S0.9).
   */
  freeDead(dead: readonly string[]): void {
    for (const token of this.#tokens) {
      if (!token.isHeld || !dead.includes(token.grantee)) continue;
      token.isHeld = false;
      token.id = this.#random.uuid();
    }
  }

  /**
   * Drops free tokens above the limit, last first, and makes missing ones. Nobody who holds one is
   * touched (S0.4).
   */
  fit(limit: number): void {
    for (let at = this.#tokens.length - 1; at >= 0; at -= 1) {
      if (this.#tokens.length > limit && this.#tokens[at]?.isHeld === false) {
        this.#tokens.splice(at, 1);
      }
    }
    while (this.#tokens.length < limit) {
      this.#tokens.push({ id: this.#random.uuid(), isHeld: false, grantee: "0" });
    }
  }

  /**
   * Grants free tokens in list order until the grantee holds `want` or all together hold `limit`.
   */
  grant(grantee: string, { want, limit }: { want: number; limit: number }): number {
    const missing = Math.min(want - this.heldBy(grantee), limit - this.held);
    const granted = this.#tokens.filter((token) => !token.isHeld).slice(0, Math.max(missing, 0));
    for (const token of granted) {
      token.isHeld = true;
      token.grantee = grantee;
    }
    return granted.length;
  }

  /** The string of seed 000. */
  toString(): string {
    return formatTokens(this.#tokens);
  }
}

/** What somebody asks of a definition's tokens. */
export interface TokenAsk {
  /** The live execution that asks; null: nobody, the tokens are only fitted to the limit. */
  execution: ExecutionRow | null;
  /** Hold up to this many afterwards. */
  want?: number;
  /** Hold at most this many afterwards. */
  keep?: number;
  /** Give back at most this many, and only as many as are held above the limit. */
  surplusMost?: number;
}

/** What came of it. */
export interface SettledTokens {
  /** Held by the asker now. */
  own: number;
  granted: number;
  freed: number;
  /** Held by all; 0 without a limit. */
  held: number;
  /** Dead holders found. */
  dead: number;
}

/**
 * The one place that changes a definition's tokens: grant, give back, fit to the limit.
 * Throws StoreContractError when the string is damaged.
 */
export function settleTokens(
  model: Model,
  definition: DefinitionRow,
  ask: TokenAsk,
): SettledTokens {
  const limit = limitOf(definition);
  const settled =
    limit === null
      ? settleCounter(definition, ask)
      : settleString(model, definition, { ...ask, limit });
  if (settled.granted > 0) definition.tokenFence += 1;
  if (ask.execution !== null && (settled.granted > 0 || settled.freed > 0)) {
    ask.execution.tokenCount = settled.own;
  }
  return settled;
}

/** Without a limit the execution's counter stands in for the string (design 10.4). */
function settleCounter(definition: DefinitionRow, ask: TokenAsk): SettledTokens {
  const had = ask.execution?.tokenCount ?? 0;
  const isGranted = ask.want !== undefined && ask.want > had && !definition.isPaused;
  const own = isGranted ? (ask.want ?? had) : Math.min(ask.keep ?? had, had);
  return { own, granted: Math.max(own - had, 0), freed: Math.max(had - own, 0), held: 0, dead: 0 };
}

function settleString(
  model: Model,
  definition: DefinitionRow,
  ask: TokenAsk & { limit: number },
): SettledTokens {
  const pool = new TokenPool(definition, model.random);
  const asker = ask.execution?.executionId ?? "0";

  // 1. What the asker no longer wants to hold.
  let keep = ask.keep ?? pool.heldBy(asker);
  if (ask.surplusMost !== undefined) {
    keep -= Math.max(Math.min(ask.surplusMost, pool.held - ask.limit, keep), 0);
  }
  const freed = pool.giveBack(asker, keep);

  // 2. Dead holders, before any comparison with the limit: else a limit lowered below their number
  // denies for ever.
  const isShort = ask.want !== undefined && ask.limit - pool.held < ask.want - pool.heldBy(asker);
  const dead =
    pool.held > ask.limit || isShort
      ? pool.holders.filter((holder) => holder !== asker && !isAlive(model, holder))
      : [];
  for (const holder of dead) declareDead(model, holder);
  pool.freeDead(dead);

  // 3. As many tokens as the limit says, or as are held.
  pool.fit(ask.limit);

  // 4. A part of the wish is a grant, too.
  const granted =
    ask.want === undefined || definition.isPaused
      ? 0
      : pool.grant(asker, { want: ask.want, limit: ask.limit });
  definition.executionTokens = pool.toString();
  return { own: pool.heldBy(asker), granted, freed, held: pool.held, dead: dead.length };
}

/**
 * Does a holder live? At the very instant at which its lease ends it does (S0.7); without a row it
 * doesn't (S0.8).
 */
function isAlive(model: Model, holder: string): boolean {
  const execution = model.state.executions.get(holder as ExecutionId);
  return execution?.state === "live" && execution.leaseUntilMs >= model.nowMs;
}

function declareDead(model: Model, holder: string): void {
  const execution = model.state.executions.get(holder as ExecutionId);
  if (execution?.state !== "live") return;
  execution.state = "dead";
  execution.endedAtMs ??= model.nowMs;
  execution.tokenCount = 0;
}

/**
 * Tokens held above the limit. Counts in the text: a damaged string must not stop those who only
 * ask.
 */
export function surplusOf(definition: DefinitionRow): number {
  const limit = limitOf(definition);
  if (limit === null) return 0;
  const held = definition.executionTokens.split("S:0").length - 1;
  return Math.max(held - limit, 0);
}

/**
 * Tokens held by live executions, and the time until the first of their leases ends; null: nobody
 * holds one.
 */
export function liveTokens(
  model: Model,
  definition: DefinitionRow,
): { count: number; retryInMs: number | null } {
  const leasesLeftMs = tokensOf(definition)
    .filter((token) => token.isHeld && isAlive(model, token.grantee))
    .map((token) => {
      const execution = model.state.executions.get(token.grantee as ExecutionId);
      return (execution?.leaseUntilMs ?? model.nowMs) - model.nowMs;
    });
  return {
    count: leasesLeftMs.length,
    retryInMs: leasesLeftMs.length === 0 ? null : Math.round(Math.min(...leasesLeftMs)) + 1,
  };
}

/** The definition's tokens. Throws StoreContractError that names it when the string is damaged. */
function tokensOf(definition: DefinitionRow): Token[] {
  try {
    return parseTokens(definition.executionTokens);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StoreContractError(`${message} in definition ${definition.name}`);
  }
}

/** Why somebody who holds no token can't be given one; null: at least one is granted. */
export function denial(
  model: Model,
  definition: DefinitionRow,
): { status: "paused" | "limited"; retryInMs: number | null } | null {
  if (definition.isPaused) return { status: "paused", retryInMs: null };
  const limit = limitOf(definition);
  if (limit === null) return null;
  const { count, retryInMs } = liveTokens(model, definition);
  return count >= limit ? { status: "limited", retryInMs } : null;
}

/** acquire_tokens: makes a live execution hold up to `want` tokens. */
export function acquireTokens(
  model: Model,
  input: { executionId: ExecutionId; want: number },
): AcquireTokensAnswer {
  expectRange("want", input.want, [1, limits.tokensMax]);
  const nothing = { tokens: 0, granted: 0, tokenFence: null, retryInMs: null, deadHolders: 0 };
  const execution = model.state.executions.get(input.executionId);
  if (execution?.state !== "live") return { ...nothing, status: "fenced" };
  const definition = definitionOf(model.state, execution);
  const denied = execution.tokenCount === 0 ? denial(model, definition) : null;
  if (denied !== null) return { ...nothing, ...denied };
  const settled = settleTokens(model, definition, { execution, want: input.want });
  const isLimited = settled.own === 0 && !definition.isPaused;
  return {
    status: settled.own > 0 ? "granted" : definition.isPaused ? "paused" : "limited",
    tokens: settled.own,
    granted: settled.granted,
    tokenFence: asFence(String(definition.tokenFence)),
    retryInMs: isLimited ? liveTokens(model, definition).retryInMs : null,
    deadHolders: settled.dead,
  };
}

/** release_tokens: by what is kept, not by what is given, so a repeat frees nothing (S0.10). */
export function releaseTokens(
  model: Model,
  input: { executionId: ExecutionId; keep: number },
): ReleaseTokensAnswer {
  expectRange("keep", input.keep, [0, limits.tokensMax]);
  const execution = model.state.executions.get(input.executionId);
  if (execution?.state !== "live") return { status: "fenced", tokens: 0, freed: 0, ready: false };
  const definition = definitionOf(model.state, execution);
  const settled = settleTokens(model, definition, { execution, keep: input.keep });
  const ready = settled.freed > 0 && hasReady(model.state, definition);
  return { status: "released", tokens: settled.own, freed: settled.freed, ready };
}

/**
 * release_surplus: idle tokens go back after a limit was lowered, no more than are held above it by
 * all.
 */
export function releaseSurplus(
  model: Model,
  input: { executionId: ExecutionId; most: number },
): ReleaseSurplusAnswer {
  expectRange("most", input.most, [1, limits.tokensMax]);
  const execution = model.state.executions.get(input.executionId);
  if (execution?.state !== "live") return { status: "fenced", tokens: 0, freed: 0, surplus: 0 };
  const definition = definitionOf(model.state, execution);
  const settled = settleTokens(model, definition, { execution, surplusMost: input.most });
  const surplus = Math.max(settled.held - (limitOf(definition) ?? settled.held), 0);
  return { status: "released", tokens: settled.own, freed: settled.freed, surplus };
}
