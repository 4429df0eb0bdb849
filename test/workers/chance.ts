import type { Random } from "../../shared/ports/random";

/** Draws, all from one source: the same seed gives the same run. */
export class Chance {
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  /** True with that probability. */
  is(probability: number): boolean {
    return this.random.fraction() < probability;
  }

  /** min <= x < max */
  between(min: number, max: number): number {
    return min + (max - min) * this.random.fraction();
  }

  /** A whole number, both ends included. */
  whole(min: number, max: number): number {
    return Math.floor(this.between(min, max + 1));
  }

  /** One of a list that isn't empty. */
  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.whole(0, values.length - 1)];
    if (value === undefined) throw new Error("Expected something to pick from");
    return value;
  }
}
