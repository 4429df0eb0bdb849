import type { ScheduleStatus, SetSchedulePausedInput } from "../../ports/task-store";
import type { Actor, AdminOptions, OfDefinition } from "../admin-options";
import { requireDefinition, withKnownNames } from "../known-definitions";
import { getSchedule, listSchedules, setSchedulePaused } from "../schedule-actions";
import type { SchedulePauseReport } from "../schedule-actions";
import type {
  ListSchedulesRequest,
  RunScheduleRequest,
  ScheduleRequest,
} from "../schedule-requests";
import { runSchedule } from "../schedule-run";
import type { ScheduleRunReport } from "../schedule-run";

/** Whether the caller has seen it paused: if it isn't so, the call throws SettingsConflict. */
type SeenPause = Pick<SetSchedulePausedInput, "expectedPaused">;

/** Calls about schedules. */
export interface ScheduleCalls {
  /** Schedules with their next instants, by definition as registered, then name. */
  schedules(request: ListSchedulesRequest): Promise<ScheduleStatus[]>;
  /** One schedule; without a name the only one of the definition. Throws InvalidArgumentError (unknown). */
  schedule(request: { schedule?: string } & OfDefinition): Promise<ScheduleStatus>;
  /** A schedule enqueues nothing until resumed; instants that pass meanwhile aren't fired later. */
  pauseSchedule(
    request: ScheduleRequest & Actor & OfDefinition & SeenPause,
  ): Promise<SchedulePauseReport>;
  /** Lets a schedule go on with its next instant from now. */
  resumeSchedule(
    request: ScheduleRequest & Actor & OfDefinition & SeenPause,
  ): Promise<SchedulePauseReport>;
  /** Enqueues a schedule's task now; its next instant stays. With an operation id a repeat adds nothing. Leaves a hint. */
  runSchedule(request: RunScheduleRequest & Actor & OfDefinition): Promise<ScheduleRunReport>;
}

/** The calls about schedules. */
export function scheduleCalls(options: AdminOptions): ScheduleCalls {
  const { store } = options;
  const ofKnown = async <Result>(
    { definition }: OfDefinition,
    body: () => Promise<Result>,
  ): Promise<Result> => {
    await requireDefinition(store, definition);
    return body();
  };
  return {
    schedules: (request) =>
      withKnownNames(store, request.name ?? "", () => listSchedules(options, request)),
    schedule: (request) =>
      ofKnown(request, async () => (await getSchedule(options, request)).found),
    pauseSchedule: (request) =>
      ofKnown(request, () => setSchedulePaused(options, { ...request, paused: true })),
    resumeSchedule: (request) =>
      ofKnown(request, () => setSchedulePaused(options, { ...request, paused: false })),
    runSchedule: (request) => ofKnown(request, () => runSchedule(options, request)),
  };
}
