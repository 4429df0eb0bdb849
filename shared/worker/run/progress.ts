import { describeValue, read } from "../../core/foreign-value";
import { limits } from "../../core/limits";

/** A report as the store takes it. */
export interface CleanReport {
  readonly done: number | null;
  readonly total: number | null;
  readonly text: string | null;
}

/**
 * A report of a handler, for people: numbers become whole and at least 0, what isn't one is left out, and so is a member whose
 * getter throws. Telling how far a task is never harms it. Never throws.
 */
export function cleanReport(report: unknown): CleanReport {
  if (typeof report !== "object" || report === null) return { done: null, total: null, text: null };
  const text = read(report, "text") ?? null;
  return {
    done: countOf(read(report, "done")),
    total: countOf(read(report, "total")),
    text:
      text === null
        ? null
        : (typeof text === "string" ? text : describeValue(text)).slice(
            0,
            limits.progressTextLengthMax,
          ),
  };
}

function countOf(value: unknown): number | null {
  if (typeof value !== "number" || Number.isNaN(value)) return null;
  return Math.min(Math.max(Math.round(value), 0), Number.MAX_SAFE_INTEGER);
}
