import type { EnqueueReport } from "./enqueue-actions";

/** What became of the tasks of a long list so far. */
export interface EnqueueSums extends Pick<
  EnqueueReport,
  "enqueued" | "replaced" | "duplicates" | "nextDueMs"
> {
  /** All lines up to this one are taken, blank ones counted. */
  readonly lines: number;
}

/** Before the first call, which begins behind the line `lines`. */
export function noSums(lines: number): EnqueueSums {
  return { lines, enqueued: 0, replaced: 0, duplicates: 0, nextDueMs: null };
}

/** With one more call, whose last line was `lines`. */
export function addReport(sums: EnqueueSums, report: EnqueueReport, lines: number): EnqueueSums {
  const due = [sums.nextDueMs, report.nextDueMs].filter((dueMs) => dueMs !== null);
  return {
    lines,
    enqueued: sums.enqueued + report.enqueued,
    replaced: sums.replaced + report.replaced,
    duplicates: sums.duplicates + report.duplicates,
    nextDueMs: due.length === 0 ? null : Math.min(...due),
  };
}
