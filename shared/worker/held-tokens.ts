import type { ExecutionId } from "../core/ids";
import type { WorkerEnvironment } from "./environment";
import { TokenLooks } from "./token-looks";

/** What a call about tokens came to; `given`: definitions that may take what was given back. */
export type TokensAnswer =
  | { readonly status: "fenced" }
  | { readonly status: "ok"; readonly given: readonly string[] | null };

/** The tokens of one execution: how many it holds, whether others wait for one, and when it asks for more. */
export class HeldTokens {
  readonly #environment: WorkerEnvironment;
  readonly #executionId: ExecutionId;
  readonly looks: TokenLooks;
  count: number;
  /** Above 0: so many are wanted back. Below: so many are free. */
  surplus = 0;
  /** Some are on their way back: nothing starts meanwhile. */
  isReleasing = false;

  constructor(
    environment: WorkerEnvironment,
    of: { executionId: ExecutionId; count: number; nowMs: number },
  ) {
    this.#environment = environment;
    this.#executionId = of.executionId;
    this.count = of.count;
    this.looks = new TokenLooks(of.nowMs);
  }

  /** Gives back what is wanted back beyond `keep`, on which handlers run. */
  async releaseSurplus(keep: number): Promise<TokensAnswer> {
    const held = this.count;
    this.isReleasing = true;
    const answer = await this.#environment.store
      .releaseSurplus({ executionId: this.#executionId, keep })
      .catch((error: unknown) => {
        // Whether the others are gone isn't known: nothing starts on them any more.
        this.count = keep;
        throw error;
      })
      .finally(() => {
        this.isReleasing = false;
      });
    if (answer.status === "fenced") return { status: "fenced" };
    this.count = answer.tokens;
    this.surplus = answer.surplus;
    // Fewer, and none freed by this call: it is a repeat of one whose answer was lost.
    const hasGiven = answer.given > 0 || (answer.freed === 0 && answer.tokens < held);
    if (!hasGiven) return { status: "ok", given: null };
    this.looks.end(this.#environment.clock.monotonicMs());
    return { status: "ok", given: answer.woken };
  }

  /** Asks for tokens up to `want`. */
  async acquire(want: number): Promise<TokensAnswer> {
    const { clock, store } = this.#environment;
    this.looks.note(clock.monotonicMs());
    const answer = await store.acquireTokens({ executionId: this.#executionId, want });
    if (answer.status === "granted") this.count = answer.tokens;
    this.looks.hear(answer, clock.monotonicMs());
    return { status: answer.status === "fenced" ? "fenced" : "ok", given: null };
  }
}
