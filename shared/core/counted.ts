/** Counts of a definition's tasks stop here: the database counts no further. */
export const countedMax = 10_000;

/** A counted number: `10000+` where counting has stopped. */
export function showCount(count: number): string {
  return count >= countedMax ? `${String(countedMax)}+` : String(count);
}
