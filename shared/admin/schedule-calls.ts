import type { ListSchedulesInput } from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import type { Actor, OfDefinition } from "./admin-tools";
import { requireDefinition, withKnownNames, withOwnNames } from "./known-definitions";
import { getSchedule, setSchedulePaused } from "./schedule-actions";
import type { ScheduleChange } from "./schedule-actions";
import type { RunScheduleRequest } from "./schedule-requests";
import { runSchedule } from "./schedule-run";

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
      withKnownNames(
        options,
        request.name,
        async () => (await store.listSchedules(request)).schedules,
      ),
    /** One schedule; without a name the only one of the definition. Throws InvalidArgumentError (unknown). */
    schedule: (request: { schedule?: string } & OfDefinition) =>
      ofKnown(request, async () => (await getSchedule(options, request)).found),
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
