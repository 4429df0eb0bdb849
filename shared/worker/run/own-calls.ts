import type { Instants } from "../../core/lease";
import type { Clock } from "../../ports/clock";
import type { HeartbeatAnswer } from "../../ports/task-store";

/** What a worker believes that its execution holds. */
export interface Holdings {
  readonly tokens: number;
  /** Claimed tasks whose end it hasn't told. */
  readonly claims: number;
}

/** The calls of one execution that change what it holds. What a heartbeat tells can be compared only where none came between. */
export class OwnCalls {
  readonly #clock: Clock;
  #underWay = 0;
  #endedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for such a call. */
  async during<Answer>(call: Promise<Answer>): Promise<Answer> {
    this.#underWay += 1;
    try {
      return await call;
    } finally {
      this.#underWay -= 1;
      this.#endedAtMs = this.#clock.monotonicMs();
    }
  }

  /**
   * Has the database lost what these calls did, as in a failover? It knows fewer tokens than the worker, and gives those to others;
   * or it knows more claims, which would stay claimed. Fewer claims are no sign: a handler may complete its task by itself.
   */
  areForgotten(
    told: HeartbeatAnswer["executions"][number],
    sentAt: Instants,
    known: Holdings,
  ): boolean {
    if (this.#underWay > 0 || this.#endedAtMs >= sentAt.monotonicMs) return false;
    const { tokens, claims } = told;
    return (tokens !== null && tokens < known.tokens) || (claims !== null && claims > known.claims);
  }
}
