import { asOperationId } from "../core/ids";
import type { Random } from "../ports/random";
import type { Actor, AdminTools, OfDefinition } from "./admin-tools";
import { addTasks } from "./enqueue-actions";
import { getSchedule } from "./schedule-actions";
import type { RunScheduleRequest } from "./schedule-requests";

/** A run of a schedule out of turn. */

/**
 * Enqueues the task that a schedule enqueues at an instant, paused or not: its kind, payload and group, with the instant as `scheduledFor`
 * at the end of the payload; default: now, by the database's clock. The schedule's own next instant stays. Leaves a hint. A repeat with the same
 * operation id adds nothing and answers the same task. `nextDueMs`: until it is due, where its kind has a delay; null: now. Throws InvalidArgumentError (unknown), naming near schedules.
 */
export async function runSchedule(
  tools: AdminTools & { readonly random: Random; readonly build: number },
  request: RunScheduleRequest & Actor & OfDefinition,
) {
  const { definition, changedBy, operationId = asOperationId(tools.random.uuid()) } = request;
  const { found, now } = await getSchedule(tools, request);
  const instant = (request.scheduledFor ?? now).toISOString();
  const payload = withInstant(found.payload, instant);
  // As at an instant: no group of a kind whose group only its code can tell.
  const task = { payload, kind: found.kind, group: found.group };
  const why = request.reason === undefined ? {} : { reason: request.reason };
  const addition = { definition, rows: [task], operationId, changedBy, ...why };
  const { tasks, nextDueMs } = await addTasks(tools, addition);
  const [added] = tasks;
  if (added === undefined) throw new Error("An enqueue of one task answered none");
  return { definition, schedule: found.name, task: added.taskId, nextDueMs };
}

/** As `fire_schedule` does it: the payload's text stays as it is stored. */
function withInstant(payload: string | null, instant: string): string {
  const begun = payload === null ? "{" : payload.slice(0, -1);
  const comma = /^\{\s*$/.test(begun) ? "" : ",";
  return `${begun}${comma}"scheduledFor":${JSON.stringify(instant)}}`;
}
