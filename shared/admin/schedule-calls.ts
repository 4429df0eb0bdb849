import type { ListSchedulesInput, ScheduleStatus } from "../ports/task-store";
import { asOperationId } from "../core/ids";
import type { AdminOptions } from "./admin-options";
import type { Actor, OfDefinition } from "./admin-tools";
import { addTasks } from "./enqueue-actions";
import { requireDefinition, withKnownNames, withOwnNames } from "./known-definitions";
import { getSchedule, setSchedulePaused } from "./schedule-actions";
import type { ScheduleChange } from "./schedule-actions";
import type { RunScheduleRequest } from "./schedule-requests";

/** A schedule as people see it: its id is a text, as every id outside of the database is. */
export type ScheduleReport = Omit<ScheduleStatus, "id"> & { readonly id: string };

function readable(schedule: ScheduleStatus): ScheduleReport {
  return { ...schedule, id: String(schedule.id) };
}

/** Calls about schedules. */
export function scheduleCalls(options: AdminOptions) {
  const { store } = options;
  const ofKnown = <Result>(
    { definition }: OfDefinition,
    body: () => Promise<Result>,
  ): Promise<Result> =>
    withOwnNames(options, definition, async () => {
      await requireDefinition(store, definition);
      return body();
    });
  return {
    /** Schedules with their next instants, by definition as registered, then name. */
    schedules: (request: ListSchedulesInput) =>
      withKnownNames(options, request.name, async () =>
        (await store.listSchedules(request)).schedules.map(readable),
      ),
    /** One schedule; without a name the only one of the definition. Throws InvalidArgumentError (unknown). */
    schedule: (request: { schedule?: string } & OfDefinition) =>
      ofKnown(request, async () => readable((await getSchedule(options, request)).found)),
    /** A schedule enqueues nothing until resumed; instants that pass meanwhile aren't fired later. */
    pauseSchedule: (request: ScheduleChange) =>
      ofKnown(request, () => setSchedulePaused(options, { ...request, paused: true })),
    /** Lets a schedule go on with its next instant from now. */
    resumeSchedule: (request: ScheduleChange) =>
      ofKnown(request, () => setSchedulePaused(options, { ...request, paused: false })),
    /** Enqueues a schedule's task now; its next instant stays. With an operation id a repeat adds nothing. Leaves a hint. */
    runSchedule: (request: RunScheduleRequest & Actor & OfDefinition) =>
      ofKnown(request, () => runSchedule(options, request)),
  };
}

/**
 * Enqueues the task that a schedule enqueues at an instant, paused or not: its kind, payload and group, with the instant as `scheduledFor`
 * at the end of the payload; default: now, by the database's clock. The schedule's own next instant stays. Leaves a hint. A repeat with the same
 * operation id adds nothing and answers the same task. `nextDueMs`: until it is due, where its kind has a delay; null: now. Throws InvalidArgumentError (unknown), naming near schedules.
 */
async function runSchedule(
  tools: AdminOptions,
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
