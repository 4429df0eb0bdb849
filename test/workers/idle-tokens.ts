import { parseTokens } from "../../shared/core/token";

/** Measures, per token, how long it is free while tasks wait and a living host wants it. */
export class IdleTokens {
  readonly #since = new Map<string, number>();
  #longestMs = 0;

  get longestMs(): number {
    return this.#longestMs;
  }

  /** The definition's tokens as they are from this instant on, and whether a host wants one. */
  see(nowMs: number, tokens: string, isWanted: boolean): void {
    for (const fromMs of this.#since.values())
      this.#longestMs = Math.max(this.#longestMs, nowMs - fromMs);
    const free = new Set(
      isWanted
        ? parseTokens(tokens)
            .filter(({ isHeld }) => !isHeld)
            .map(({ id }) => id)
        : [],
    );
    for (const id of this.#since.keys()) if (!free.has(id)) this.#since.delete(id);
    for (const id of free) if (!this.#since.has(id)) this.#since.set(id, nowMs);
  }
}
