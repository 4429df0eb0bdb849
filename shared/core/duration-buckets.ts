/**
 * Durations counted by place: six bounds make a power of ten. Bucket n holds durations from bound n - 1 up to below bound n,
 * in milliseconds; bucket 0 those below 1 ms. The SQL functions `_duration_bucket` have the same list.
 */
export const durationBoundsMs: readonly number[] = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000,
  5_000, 7_000, 10_000, 15_000, 20_000, 30_000, 50_000, 70_000, 100_000, 150_000, 200_000, 300_000,
  500_000, 700_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 5_000_000, 7_000_000, 10_000_000,
];

/** How many tasks have a duration of that bucket. */
export type BucketCount = readonly [bucket: number, tasks: number];

/** So many bounds are at or below the duration, in ms. */
export function durationBucket(ms: number): number {
  return durationBoundsMs.filter((bound) => bound <= ms).length;
}

/** Several lists as one, by bucket. */
export function mergeBuckets(lists: readonly (readonly BucketCount[])[]): BucketCount[] {
  const counts = new Map<number, number>();
  for (const [bucket, tasks] of lists.flat()) counts.set(bucket, (counts.get(bucket) ?? 0) + tasks);
  return [...counts].sort(([a], [b]) => a - b);
}

/**
 * The duration in ms that this share (0..1) of the counted ones reaches at most, as if they lay evenly within their bucket;
 * null: none was counted. A duration above the last bound counts as that bound.
 */
export function quantileMs(buckets: readonly BucketCount[], share: number): number | null {
  const all = buckets.reduce((sum, [, tasks]) => sum + tasks, 0);
  if (all === 0) return null;
  let below = 0;
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  for (const [bucket, tasks] of sorted) {
    if (below + tasks >= share * all) {
      const from = durationBoundsMs[bucket - 1] ?? 0;
      const to = durationBoundsMs[bucket] ?? from;
      return Math.round(from + ((to - from) * (share * all - below)) / tasks);
    }
    below += tasks;
  }
  return durationBoundsMs.at(-1) ?? null;
}
