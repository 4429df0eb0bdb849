/** Of the first 1,200 those that together meet most, each thing twice where it can be. */
export const historySeeds: readonly number[] = [
  8, 43, 130, 187, 373, 376, 391, 446, 525, 554, 619, 631, 671, 748, 814, 873, 883, 1097, 1117,
  1161,
];

/** Calls of each. */
export const historyLength = 130;
