import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  durationBoundsMs,
  durationBucket,
  mergeBuckets,
  quantileMs,
} from "../../../shared/core/duration-buckets";
import type { BucketCount } from "../../../shared/core/duration-buckets";

const sql = join(__dirname, "../../../shared/store");

function boundsOf(path: string, pattern: RegExp): number[] {
  const [, list = ""] = pattern.exec(readFileSync(join(sql, path), "utf8")) ?? [];
  return [...list.matchAll(/\d+/g)].map(([digits]) => Number(digits));
}

describe("buckets of durations", () => {
  test("both dialects have the same bounds", () => {
    const postgres = boundsOf("postgres/sql/functions/_duration_bucket.sql", /array\[([^\]]+)\]/);
    const mssql = boundsOf("mssql/sql/functions/_DurationBucket.sql", /\(VALUES ([\s\S]+?)\) AS b/);
    expect(postgres).toEqual(durationBoundsMs);
    expect(mssql).toEqual(durationBoundsMs);
  });

  test.each([
    [0, 0],
    [1, 1],
    [4, 3],
    [9_999_999, 41],
    [1e12, 42],
  ])("%d ms is in bucket %d", (ms, bucket) => {
    expect(durationBucket(ms)).toBe(bucket);
  });

  test("lists are added up by bucket", () => {
    const lists: BucketCount[][] = [
      [
        [3, 1],
        [5, 2],
      ],
      [[5, 4]],
    ];
    expect(mergeBuckets(lists)).toEqual([
      [3, 1],
      [5, 6],
    ]);
  });
});

describe("quantiles of buckets", () => {
  test("the quantiles are none where nothing was counted", () => {
    expect(quantileMs([], 0.5)).toBeNull();
  });

  test("durations lie evenly within their bucket", () => {
    const bucket = durationBucket(20);
    expect(quantileMs([[bucket, 100]], 0.5)).toBe(25);
    expect(quantileMs([[bucket, 100]], 1)).toBe(30);
  });

  test("a time above the last bound counts as that bound", () => {
    expect(quantileMs([[42, 3]], 0.99)).toBe(10_000_000);
  });

  test("a quantile is within the bucket of the true one, and grows with the share", () => {
    const durations = fc.array(fc.integer({ min: 1, max: 9_000_000 }), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(durations, fc.double({ min: 0.01, max: 1, noNaN: true }), (list, share) => {
        const counts = mergeBuckets(list.map((ms): BucketCount[] => [[durationBucket(ms), 1]]));
        const sorted = [...list].sort((a, b) => a - b);
        const bucket = durationBucket(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
        const found = quantileMs(counts, share) ?? -1;
        expect(found).toBeGreaterThanOrEqual(durationBoundsMs[bucket - 1] ?? 0);
        expect(found).toBeLessThanOrEqual(durationBoundsMs[bucket] ?? Infinity);
        expect(quantileMs(counts, share / 2) ?? 0).toBeLessThanOrEqual(found);
      }),
    );
  });
});
