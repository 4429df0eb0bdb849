import type {
  FireScheduleAnswer,
  NewSchedule,
  ScheduleStatus,
  SetSchedulesAnswer,
} from "../../shared/ports/task-store";
import type { TaskStore } from "../../shared/ports/task-store";
import { define } from "../support/builders";

/* What tests of schedules say when they don't care. */

/** One minute. */
export const minuteMs = 60_000;

/** A schedule of a definition, to be changed where it matters. */
export function schedule(changes: Partial<NewSchedule> = {}): NewSchedule {
  return {
    name: "nightly",
    kind: "a kind",
    cron: "0 2 * * *",
    timeZone: "Europe/Berlin",
    missed: "once",
    payload: null,
    group: null,
    nextRunAt: null,
    ...changes,
  };
}

/** All schedules of a definition, by build 1 of the code. */
export function setAll(
  store: TaskStore,
  name: string,
  schedules: readonly NewSchedule[],
): Promise<SetSchedulesAnswer> {
  return store.setSchedules({ name, build: 1, changedBy: "the code", schedules });
}

/** The definition's one schedule. */
export async function theOne(store: TaskStore, name: string): Promise<ScheduleStatus> {
  const { schedules } = await store.listSchedules({ name, max: 10 });
  const [one] = schedules;
  if (one === undefined || schedules.length !== 1) throw new Error("Expected one schedule");
  return one;
}

/** So many minutes later. */
export function minutesAfter(now: Date, minutes: number): Date {
  return new Date(now.getTime() + minutes * minuteMs);
}

/** A definition with one schedule that is due in so many minutes. */
export async function defineDue(
  store: TaskStore,
  minutes: number,
  changes: Partial<NewSchedule> = {},
): Promise<{ name: string; dueAt: Date }> {
  const name = await define(store);
  const { now } = await store.listSchedules({ max: 1 });
  const dueAt = minutesAfter(now, minutes);
  await setAll(store, name, [schedule({ nextRunAt: dueAt, ...changes })]);
  return { name, dueAt };
}

/** Fires the definition's one schedule, as it is seen now. */
export async function fire(
  store: TaskStore,
  name: string,
  { minutes = [0], next = 60 }: { minutes?: number[]; next?: number | null } = {},
): Promise<FireScheduleAnswer> {
  const { id, runAt } = await theOne(store, name);
  const expectedRunAt = new Date(runAt ?? 0);
  return store.fireSchedule({
    scheduleId: id,
    expectedRunAt,
    runAts: minutes.map((minute) => minutesAfter(expectedRunAt, minute)),
    nextRunAt: next === null ? null : minutesAfter(expectedRunAt, next),
  });
}
