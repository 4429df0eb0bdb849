import type { ExecutionId } from "../../core/ids";
import type { TokenFacts } from "../../core/next-call";
import type { WorkerEnvironment } from "../environment";
import { TokenPollSchedule } from "./token-poll-schedule";

/** What a call about tokens came to; `given`: definitions that may take the released tokens. */
export type TokensAnswer =
  | { readonly status: "fenced" }
  | { readonly status: "ok"; readonly given: readonly string[] | null };

/** What an answer tells of tokens that are to be given back. */
export interface TokenNeeds {
  readonly overLimit: number;
  readonly releaseRequested: boolean;
}

/** So many tokens are to be given back: those above the limit, or one for another execution. */
export function countWantedBack({ overLimit, releaseRequested }: TokenNeeds): number {
  return Math.max(overLimit, releaseRequested ? 1 : 0);
}

/** The tokens of one execution: how many it holds, whether others wait for one, and when it asks for more. */
export class HeldTokens implements TokenFacts {
  readonly #environment: WorkerEnvironment;
  readonly #executionId: ExecutionId;
  readonly #polls: TokenPollSchedule;
  #count: number;
  #wantedBack = 0;
  #freeTokens = 0;
  #isReleasing = false;

  constructor(
    environment: WorkerEnvironment,
    of: { executionId: ExecutionId; count: number; nowMs: number },
  ) {
    this.#environment = environment;
    this.#executionId = of.executionId;
    this.#count = of.count;
    this.#polls = new TokenPollSchedule(of.nowMs);
  }

  get count(): number {
    return this.#count;
  }

  get wantedBack(): number {
    return this.#wantedBack;
  }

  get freeTokens(): number {
    return this.#freeTokens;
  }

  get isReleasing(): boolean {
    return this.#isReleasing;
  }

  /** The last request was denied, and no token has been known to be free since. */
  get isDenied(): boolean {
    return this.#polls.isDenied;
  }

  /** Of the tokens that are wanted: where further ones are denied those held are all that it can use. */
  usableOf(wanted: number): number {
    return this.isDenied ? this.#count : wanted;
  }

  get nextRequestMs(): number {
    return this.#polls.nextPollMs;
  }

  /** What an answer told: of a heartbeat, or of `work`, which also knows how many are free. */
  noteNeeds(answer: TokenNeeds & { readonly freeTokens?: number }): void {
    this.#wantedBack = countWantedBack(answer);
    this.#freeTokens = answer.freeTokens ?? 0;
    if (this.#freeTokens > 0) this.#polls.pollSoon();
  }

  /** Tasks have arrived: the next request makes sense soon, unless the last one was denied. */
  noteArrival(): void {
    if (!this.#polls.isDenied) this.#polls.pollSoon();
  }

  /** Gives back the requested tokens, but keeps `keep`, on which handlers run. */
  async releaseSurplus(keep: number): Promise<TokensAnswer> {
    const held = this.#count;
    this.#isReleasing = true;
    const answer = await this.#environment.store
      .releaseSurplus({ executionId: this.#executionId, keep })
      .catch((error: unknown) => {
        // Whether the others are gone isn't known: nothing starts on them any more.
        this.#count = keep;
        throw error;
      })
      .finally(() => {
        this.#isReleasing = false;
      });
    if (answer.status === "fenced") return { status: "fenced" };
    this.#count = answer.tokens;
    this.#wantedBack = answer.overLimit;
    this.#freeTokens = 0;
    // Fewer, and none freed by this call: it is a repeat of one whose answer was lost.
    const hasGiven = answer.given > 0 || (answer.freed === 0 && answer.tokens < held);
    if (!hasGiven) return { status: "ok", given: null };
    this.#polls.noteReleased(this.#environment.clock.monotonicMs());
    return { status: "ok", given: answer.woken };
  }

  /** Asks for tokens up to `want`. */
  async acquire(want: number): Promise<TokensAnswer> {
    const { clock, store } = this.#environment;
    this.#polls.notePoll(clock.monotonicMs());
    const answer = await store.acquireTokens({ executionId: this.#executionId, want });
    if (answer.status === "granted") this.#count = answer.tokens;
    this.#polls.noteAnswer(answer, clock.monotonicMs());
    return { status: answer.status === "fenced" ? "fenced" : "ok", given: null };
  }
}
