import {
  fireSchedule,
  listSchedules,
  promote,
  register,
  setSchedulePaused,
  setSchedules,
  start,
  sweep,
  work,
} from "../calls";
import { allOf, claimedBy, isAny, oneOf, statusOf } from "../endings";
import { later } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { definitionRow, scheduleRow } from "../permitted-waits";

/** Schedule 1 of definition a is due. */
const due = [register({ limit: 4 }), setSchedules([{}]), later(11)];

/** As many tasks as calls that say they have fired. */
function oneTaskEach(end: Ending): string | undefined {
  const fired = end.answers.flat().filter((answer) => statusOf(answer) === "fired").length;
  const tasks = end.rows("Task").length + end.rows("Archive").length;
  return fired === tasks ? undefined : `${String(fired)} fired, ${String(tasks)} tasks`;
}

/** A fired instant isn't the schedule's next one any more: else it would be fired again. */
function goneOnAfterFiring(end: Ending): string | undefined {
  const [schedule] = end.rows("Schedule");
  const isAgain = schedule?.["NextRunAt"] === schedule?.["LastRunAt"];
  return isAgain ? "the instant that was fired is the next one again" : undefined;
}

/** Sweepers, deployments and operators meet at a schedule: one task per instant, no waiting. */
export const scheduleCases: readonly ModelCase[] = [
  {
    name: "fire-x-fire",
    about: "two sweepers find the same instant: one task, and nobody waits",
    setup: due,
    callers: [[fireSchedule()], [fireSchedule()]],
    ends: (end) => allOf(oneOf(end, "fired", "stale"), oneTaskEach(end)),
  },
  {
    name: "fire-x-fire-of-a-group",
    about: "the same, where the task goes through a group's gate",
    setup: [register(), setSchedules([{ group: "g" }]), later(11)],
    callers: [[fireSchedule()], [fireSchedule()]],
    ends: (end) => allOf(oneOf(end, "fired", "stale"), oneTaskEach(end)),
  },
  {
    name: "fire-x-set-schedules",
    about: "a deployment changes the expression while it is fired: before or after, not both",
    setup: due,
    readersWait: true,
    waits: [{ ...scheduleRow, by: 1 }],
    callers: [[fireSchedule()], [setSchedules([{ cron: "1 * * * *", nextInMs: 60_000 }])]],
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[0], "fired", "stale"),
        isAny(end.answers[1]?.[0], "set"),
        oneTaskEach(end),
        end.rows("Schedule")[0]?.["Cron"] === "1 * * * *"
          ? undefined
          : "the expression is the old one",
      ),
  },
  {
    name: "fire-x-remove",
    about: "a deployment removes a schedule while it is fired: a task, or none",
    setup: due,
    readersWait: true,
    waits: [{ ...scheduleRow, by: 1 }],
    callers: [[fireSchedule()], [setSchedules([])]],
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[0], "fired", "stale"),
        oneTaskEach(end),
        end.rows("Schedule").length === 0 ? undefined : "the schedule is still there",
      ),
  },
  {
    name: "fire-x-pause",
    about: "an operator pauses a schedule while it is fired: a task before, or none",
    setup: due,
    readersWait: true,
    waits: [{ ...scheduleRow, by: 1 }],
    callers: [[fireSchedule()], [setSchedulePaused(true)]],
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[0], "fired", "stale", "paused"),
        oneTaskEach(end),
        goneOnAfterFiring(end),
      ),
  },
  {
    name: "fire-x-resume",
    about: "a paused schedule whose instant has passed is resumed while somebody would fire it",
    setup: [...due, setSchedulePaused(true)],
    readersWait: true,
    waits: [{ ...scheduleRow, by: 1 }],
    callers: [[fireSchedule()], [setSchedulePaused(false)]],
    ends: (end) => allOf(isAny(end.answers[0]?.[0], "paused", "stale"), oneTaskEach(end)),
  },
  {
    name: "pause-of-a-schedule-x-resume",
    about: "two operators disagree: one after the other",
    setup: due,
    readersWait: true,
    waits: [scheduleRow],
    callers: [[setSchedulePaused(true)], [setSchedulePaused(false)]],
    ends: (end) => isAny(end.answers[0]?.[0], "paused"),
  },
  {
    name: "pause-of-a-schedule-x-pause",
    about: "two operators pause a schedule: one finds it so, and one pause is written down",
    setup: due,
    readersWait: true,
    waits: [scheduleRow],
    callers: [[setSchedulePaused(true)], [setSchedulePaused(true)]],
    ends: (end) =>
      allOf(
        oneOf(end, "paused", "exists"),
        end.rows("SettingAudit").filter(({ Setting }) => Setting === "schedule_paused").length === 1
          ? undefined
          : "expected one entry of the audit",
      ),
  },
  {
    name: "set-schedules-x-set-schedules",
    about: "two processes of one build start at once: each schedule once",
    setup: [register()],
    readersWait: true,
    waits: [definitionRow],
    callers: [[setSchedules([{}])], [setSchedules([{}])]],
    ends: (end) =>
      allOf(
        oneOf(end, "set", "exists"),
        end.rows("Schedule").length === 1 ? undefined : "expected one schedule",
      ),
  },
  {
    name: "older-schedules-x-newer-build",
    about:
      "an old process sets its schedules while a newer build registers and sets its own: those stay",
    isLong: ["locking", "versioned"],
    setup: [register(), setSchedules([{}])],
    readersWait: true,
    waits: [definitionRow, scheduleRow],
    callers: [
      [setSchedules([{ cron: "1 * * * *" }])],
      [register({ build: 2 }), setSchedules([{ cron: "2 * * * *" }], { build: 2 })],
    ],
    ends: (end) =>
      end.rows("Schedule")[0]?.["Cron"] === "2 * * * *" ? undefined : "the older build won",
  },
  {
    name: "fire-x-register",
    about: "a definition is changed while one of its schedules is fired",
    setup: due,
    readersWait: true,
    callers: [[fireSchedule()], [register({ limit: 4, build: 2 })]],
    ends: (end) => allOf(isAny(end.answers[0]?.[0], "fired"), oneTaskEach(end)),
  },
  {
    name: "fire-x-claim",
    about: "a worker claims while a schedule is fired: it has the task, or the next one will",
    setup: [...due, start(1, 1)],
    callers: [[fireSchedule()], [work({ execution: 1, call: 1, want: 1 })]],
    readersWait: true,
    ends: (end) =>
      end.rows("Claim").length === claimedBy(end.answers[1]?.[0]).length
        ? oneTaskEach(end)
        : "claimed and told differ",
  },
  {
    name: "fire-x-promote",
    about: "a schedule's task enters its group while due ones are promoted",
    setup: [register(), setSchedules([{ group: "g" }]), later(11)],
    readersWait: true,
    callers: [[fireSchedule()], [promote]],
    ends: oneTaskEach,
  },
  {
    name: "fire-x-sweep",
    about: "a sweep reads while a schedule is fired",
    setup: due,
    readersWait: true,
    callers: [[fireSchedule()], [sweep]],
  },
  {
    name: "list-of-schedules-x-set-schedules",
    about: "schedules are listed while one is changed and another removed",
    setup: [register(), setSchedules([{}, { name: "t" }])],
    readersWait: true,
    victims: [1],
    callers: [[setSchedules([{ cron: "1 * * * *" }])], [listSchedules]],
  },
];
