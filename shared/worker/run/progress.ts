import { describeValue, read } from "../../core/foreign-value";
import { limits } from "../../core/limits";
import type { ReportProgressInput } from "../../ports/task-store";

/**
 * A report of a handler, for people: numbers become whole and at least 0, what isn't one is left out, and so is a member whose
 * getter throws. Telling how far a task is never harms it. Never throws.
 */
export function cleanReport(report: unknown): Pick<ReportProgressInput, "done" | "total" | "text"> {
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

const names = ["done", "total", "text"];

/** What of a report is left out, which its author should know; null: nothing. It goes into a log, so no text of the report is in it. Never throws. */
export function problemOfReport(report: unknown): string | null {
  if (typeof report !== "object" || report === null)
    return `expected { done, total, text }, got ${shown(report)}`;
  const noCount = ["done", "total"].find((name) => {
    const value = read(report, name) ?? 0;
    return typeof value !== "number" || Number.isNaN(value);
  });
  if (noCount !== undefined)
    return `${noCount}: expected a number, got ${shown(read(report, noCount))}`;
  const unknown = keysOf(report).find((name) => !names.includes(name));
  return unknown === undefined ? null : `${unknown}: expected one of ${names.join(", ")}`;
}

const shown = (value: unknown): string =>
  typeof value === "string" ? "a text" : describeValue(value);

function keysOf(value: object): string[] {
  try {
    return Object.keys(value);
  } catch {
    return [];
  }
}

function countOf(value: unknown): number | null {
  if (typeof value !== "number" || Number.isNaN(value)) return null;
  return Math.min(Math.max(Math.round(value), 0), Number.MAX_SAFE_INTEGER);
}
