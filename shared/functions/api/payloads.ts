import type { HttpRequest } from "@azure/functions";
import type { ExplainReport } from "../../admin/explain-report";
import type { ScheduleReport } from "../../admin/schedule-calls";
import { maySeePayloads } from "./sign-in";

/**
 * Payloads and results by the caller's role: each has its size beside it, in bytes of UTF-8, and without the role the size
 * alone. An error's text is for every reader: it is what an incident is understood by.
 */

/** An explanation as the caller may see it. */
export function showExplained(report: ExplainReport, request: HttpRequest): object {
  const { facts } = report;
  if (facts === null) return report;
  const { payload, result } = facts;
  const sizes = { payloadBytes: bytesOf(payload), resultBytes: bytesOf(result) };
  if (maySeePayloads(request)) return { ...report, facts: { ...facts, ...sizes } };
  // A task that isn't done has no member `result`.
  const hidden = { payload: null, ...(result === undefined ? {} : { result: null }) };
  return { ...report, facts: { ...facts, ...hidden, ...sizes } };
}

/** A schedule as the caller may see it. */
export function showSchedule(schedule: ScheduleReport, request: HttpRequest): object {
  const payloadBytes = bytesOf(schedule.payload);
  const payload = maySeePayloads(request) ? schedule.payload : null;
  return { ...schedule, payload, payloadBytes };
}

function bytesOf(text: string | null | undefined): number | null {
  return text == null ? null : Buffer.byteLength(text);
}
