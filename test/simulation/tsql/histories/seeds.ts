/** Of the first 1,200 those that together meet most, each thing twice where it can be. */
export const historySeeds: readonly number[] = [
  12, 16, 60, 67, 77, 81, 96, 111, 144, 235, 247, 294, 407, 510, 568, 690, 820, 916, 963, 1163,
];

/** Calls of each. */
export const historyLength = 130;
