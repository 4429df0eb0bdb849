import { asTaskId } from "../core/ids";
import type * as port from "../ports/schedules";
import { int, intOrNull, json, status, text } from "./columns";
import type { AnswerRow } from "./operations";

/*
 * As answers.ts: one function per operation about schedules.
 */

/** set_schedules */
export function setSchedules(row: AnswerRow): port.SetSchedulesAnswer {
  return {
    status: status(row, ["set", "exists", "outdated"]),
    changed: int(row, "changed"),
    nextDueMs: intOrNull(row, "nextDueMs"),
  };
}

/** set_schedule_paused */
export function setSchedulePaused(row: AnswerRow): port.SetSchedulePausedAnswer {
  return {
    status: status(row, ["paused", "resumed", "exists"]),
    nextDueMs: intOrNull(row, "nextDueMs"),
  };
}

/** fire_schedule */
export function fireSchedule(row: AnswerRow): port.FireScheduleAnswer {
  return {
    status: status(row, ["fired", "stale", "early", "paused"]),
    taskIds: json<string[]>(row, "taskIds").map(asTaskId),
    nextDueMs: intOrNull(row, "nextDueMs"),
  };
}

/** list_schedules */
export function listSchedules(row: AnswerRow): port.ListSchedulesAnswer {
  return {
    now: new Date(text(row, "nowAt")),
    schedules: json<port.ScheduleStatus[]>(row, "schedules"),
  };
}
