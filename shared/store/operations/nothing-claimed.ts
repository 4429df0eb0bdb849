/** Of a `work` that claims nothing. */
export const nothingClaimed = {
  claimed: [],
  last: null,
  refused: [],
  leaseMs: null,
  overLimit: 0,
  releaseRequested: false,
  freeTokens: 0,
  nextDueMs: null,
  retryInMs: null,
  woken: [],
  opening: [],
};
