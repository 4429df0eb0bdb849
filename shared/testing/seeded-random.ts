import type { Random } from "../ports/random";

/** Fractions (0 <= x < 1) that come again with the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Chance that comes again with the same seed. Its UUIDs are well formed and differ within one run. */
export function createSeededRandom(seed: number): Random {
  const fraction = seededRandom(seed);
  const hex = (digits: number): string =>
    Math.floor(fraction() * 16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  return {
    fraction,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`,
  };
}
