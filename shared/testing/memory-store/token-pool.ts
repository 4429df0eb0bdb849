import { messageOf } from "../../core/foreign-value";
import { StoreContractError } from "../../core/errors";
import { formatTokens, parseTokens } from "../../core/token";
import type { Token } from "../../core/token";
import type { Random } from "../../ports/random";

/** A row with a token string. */
export interface TokenRow {
  readonly name: string;
  readonly executionTokens: string;
  /** Of a shared limit; a definition has another number. */
  readonly sharedLimitId?: number;
}

/**
 * The tokens of one definition or shared limit while they change: read from its string, written back with
 * `toString`.
 */
export class TokenPool {
  readonly #tokens: Token[];
  readonly #random: Random;

  constructor(row: TokenRow, random: Random) {
    this.#tokens = tokensOf(row);
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

  /** The executions that hold tokens, each once. */
  get holders(): string[] {
    const grantees = this.#tokens.filter((token) => token.isHeld).map((token) => token.grantee);
    return [...new Set(grantees)];
  }

  /**
   * Frees tokens until the grantee holds at most `keep`, last granted first; their grantee stays
   * readable.
   */
  giveBack(grantee: string, keep: number): number {
    const own = this.#tokens.filter((token) => token.isHeld && token.grantee === grantee);
    const freed = own.slice(keep);
    for (const token of freed) token.isHeld = false;
    return freed.length;
  }

  /**
   * Frees the tokens of the dead under new ids: what an old holder says of its token matches
   * nothing.
   */
  freeDead(dead: readonly string[]): void {
    for (const token of this.#tokens) {
      if (!token.isHeld || !dead.includes(token.grantee)) continue;
      token.isHeld = false;
      token.id = this.#random.uuid();
    }
  }

  /**
   * Drops free tokens above the limit, last first, and makes missing ones. No holder of one is
   * touched.
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

  /** Holds tokens for an execution that ran before this limit existed, above the limit if necessary. */
  add(grantee: string, count: number): void {
    for (const token of this.#tokens.filter((free) => !free.isHeld).slice(0, count)) {
      token.isHeld = true;
      token.grantee = grantee;
      count -= 1;
    }
    for (; count > 0; count -= 1) {
      this.#tokens.push({ id: this.#random.uuid(), isHeld: true, grantee });
    }
  }

  /** The token string. */
  toString(): string {
    return formatTokens(this.#tokens);
  }
}

/** The row's tokens. Throws StoreContractError that names it when the string is damaged. */
export function tokensOf(row: TokenRow): Token[] {
  try {
    return parseTokens(row.executionTokens);
  } catch (error) {
    const message = messageOf(error);
    const kind = row.sharedLimitId === undefined ? "definition" : "shared limit";
    throw new StoreContractError(`${message} in ${kind} ${row.name}`);
  }
}

/** The same; null: the string is damaged. */
export function readTokens(row: TokenRow): Token[] | null {
  try {
    return parseTokens(row.executionTokens);
  } catch (error) {
    if (error instanceof StoreContractError) return null;
    throw error;
  }
}

/** The same; none when the string is damaged: that is said where something is decided. */
export function readableTokens(row: TokenRow): Token[] {
  return readTokens(row) ?? [];
}

/** Held tokens. Counts in the text: a damaged string must not stop those who only ask. */
export function countHeld(row: TokenRow): number {
  return row.executionTokens.split("S:0").length - 1;
}
