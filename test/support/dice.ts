import { seededRandom } from "../../shared/testing/seeded-random";

/** Choices that come again with the same seed. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A whole number of the range, both ends in. */
  int(least: number, max: number): number {
    return least + Math.floor(this.#random() * (max - least + 1));
  }

  /** A whole number below `max`. */
  below(max: number): number {
    return this.int(0, max - 1);
  }

  /** True once in so many throws. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  /** True in so many of a hundred throws. */
  percent(share: number): boolean {
    return this.#random() * 100 < share;
  }

  /** One of a list that isn't empty. */
  pick<Entry>(list: readonly Entry[]): Entry {
    const entry = list[this.int(0, list.length - 1)];
    if (entry === undefined) throw new Error("There is nothing to pick from");
    return entry;
  }

  /** One of a list, if there is one. */
  pickAny<Entry>(list: readonly Entry[]): Entry | undefined {
    return list.length === 0 ? undefined : this.pick(list);
  }

  /** Each entry in so many of a hundred throws, in their order. */
  some<Entry>(list: readonly Entry[], share: number): Entry[] {
    return list.filter(() => this.percent(share));
  }

  /** 1..`max` different ones; none of an empty list. */
  few<Entry>(list: readonly Entry[], max: number): Entry[] {
    if (list.length === 0) return [];
    return [...new Set(Array.from({ length: 1 + this.below(max) }, () => this.pick(list)))];
  }

  /** One of the keys, as often as its weight says. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries<number>(weights) as [Key, number][];
    let left = this.#random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    throw new Error("All weights are 0");
  }
}
