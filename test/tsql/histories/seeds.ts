/** Of the first 1,200 those that together meet most. */
export const historySeeds: readonly number[] = [
  8, 187, 373, 376, 391, 525, 554, 619, 671, 814, 873, 883, 1117,
];

/** With these each thing is met twice, where it can be. */
export const moreHistorySeeds: readonly number[] = [43, 130, 446, 631, 748, 1097, 1161];

/** Calls of each. */
export const historyLength = 130;
