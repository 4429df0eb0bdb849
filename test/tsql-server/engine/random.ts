/** Chance from a seed: the same seed, the same run. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  get state(): number {
    return this.#state;
  }

  /** 32 bits. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** 0 <= x < 1. */
  fraction(): number {
    return this.next() / 4_294_967_296;
  }

  below(limit: number): number {
    return this.next() % limit;
  }

  /** A version 4 id in upper case. */
  guid(): string {
    const hex = [0, 0, 0, 0].map(() => this.next().toString(16).padStart(8, "0")).join("");
    const variant = "89ab".charAt(parseInt(hex.charAt(16), 16) & 3);
    const text = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
    return text.toUpperCase();
  }
}
