import {
  enqueue,
  register,
  resume,
  setSchedulePaused,
  setSchedules,
  setStop,
  start,
  stopDefinition,
  stopSchedule,
} from "../calls";
import { allOf, isAny } from "../endings";
import type { Ending, ModelCase } from "../model-case";
import { definitionRow, scheduleRow, stopRow } from "../permitted-waits";

/** The only row of a table is paused, and noted as a part of the stop; or neither is so. */
function isStopped(
  end: Ending,
  { table, noted, expected }: { table: string; noted: string; expected: boolean },
): string | undefined {
  const rows = end.rows(table);
  if (rows.some((row) => row["Paused"] !== (expected ? 1 : 0)))
    return `a row of ${table} ${expected ? "goes on" : "is paused"} after all callers`;
  const count = end.rows(noted).length;
  return count === (expected ? rows.length : 0) ? undefined : `${noted} has ${String(count)} rows`;
}

const definitions = { table: "TaskDefinition", noted: "StoppedDefinition" };
const schedules = { table: "Schedule", noted: "StoppedSchedule" };

/** The caller's definition or schedule wasn't there yet. */
const unknown = 50404;

/** Registrations against the begin and the end of a stop of everything: nothing slips through between them. */
export const stopCases: readonly ModelCase[] = [
  {
    name: "register-x-stop",
    about: "a new definition is registered while a stop begins: it is stopped by one of the two",
    setup: [],
    callers: [[register()], [setStop(true), stopDefinition]],
    waits: [stopRow, definitionRow],
    errors: [unknown],
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[0], "created"),
        isStopped(end, { ...definitions, expected: true }),
      ),
  },
  {
    name: "register-x-end-of-a-stop",
    about:
      "a new definition is registered while a stop ends: the resume finds it, or it never was stopped",
    setup: [setStop(true)],
    callers: [[register()], [setStop(false), resume]],
    waits: [stopRow, definitionRow],
    errors: [unknown],
    ends: (end) => isStopped(end, { ...definitions, expected: false }),
  },
  {
    name: "register-and-start-x-stop",
    about: "a worker registers a new definition and starts behind a stop: it starts nothing",
    setup: [setStop(true)],
    callers: [[register(), enqueue([{}]), start(1, 1)], [setStop(true)]],
    waits: [stopRow],
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[2], "paused"),
        isStopped(end, { ...definitions, expected: true }),
      ),
  },
  {
    name: "set-schedules-x-stop",
    about: "a new schedule comes while a stop begins: it is stopped by one of the two",
    setup: [register()],
    callers: [[setSchedules([{}])], [setStop(true), stopSchedule]],
    waits: [stopRow, scheduleRow],
    errors: [unknown],
    ends: (end) =>
      allOf(isAny(end.answers[0]?.[0], "set"), isStopped(end, { ...schedules, expected: true })),
  },
  {
    name: "set-schedules-x-end-of-a-stop",
    about: "a new schedule comes while a stop ends: the resume finds it, or it never was stopped",
    setup: [register(), setStop(true)],
    callers: [[setSchedules([{}])], [setStop(false), setSchedulePaused(false)]],
    waits: [stopRow, scheduleRow],
    errors: [unknown],
    ends: (end) => isStopped(end, { ...schedules, expected: false }),
  },
  {
    name: "stop-x-stop",
    about: "two operators stop everything: one of them did",
    setup: [],
    callers: [[setStop(true)], [setStop(true)]],
    waits: [stopRow],
    ends: (end) =>
      end.rows("SettingAudit").length === 1 ? undefined : "the audit tells another number of stops",
  },
];
