import { seededRandom } from "../../shared/testing/seeded-random";

/** Draws that come again with the seed. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  /** A whole number below `most`. */
  below(most: number): number {
    return Math.floor(this.#next() * most);
  }

  /** Once in so many draws. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("There is nothing to pick from");
    return item;
  }

  /** 1..`most` different ones; none of an empty list. */
  some<Item>(items: readonly Item[], most: number): Item[] {
    if (items.length === 0) return [];
    return [...new Set(Array.from({ length: 1 + this.below(most) }, () => this.pick(items)))];
  }
}
