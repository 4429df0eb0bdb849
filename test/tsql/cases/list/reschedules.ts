import { cancel, enqueue, promote, register, reschedule, start, work } from "../calls";
import type { NewTask } from "../calls";
import { allOf, claimedTasks, expectTasks, taskIds } from "../endings";
import { later } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { groupRow, requestedTask } from "../permitted-waits";

const g: NewTask = { group: "g" };
const ready = [register({ limit: 4 }), enqueue([{}]), start(1, 1)];

function told(end: Ending, by: number): string {
  const list = String(end.answers[by]?.[0]?.rows[0]?.["Results"] ?? "[]");
  return (JSON.parse(list) as { outcome: string }[]).map((one) => one.outcome).join();
}

/** An operator moves tasks in time while others take them. */
export const rescheduleCases: readonly ModelCase[] = [
  {
    name: "reschedule-x-claim",
    about: "a ready task is claimed or scheduled, never both",
    isLong: ["locking", "versioned"],
    setup: ready,
    readersWait: true,
    callers: [[work({ execution: 1, call: 1, want: 1 })], [reschedule(60_000, 1)]],
    ends: (end) =>
      told(end, 1) === "rescheduled"
        ? expectTasks(taskIds(end, "Scheduled"), 1)
        : expectTasks(claimedTasks(end), 1),
  },
  {
    name: "reschedule-x-promote",
    about: "a due task is promoted or put off",
    setup: [register(), enqueue([{ runInMs: 10 }]), later(11)],
    readersWait: true,
    callers: [[promote], [reschedule(60_000, 1)]],
    ends: (end) =>
      told(end, 1) === "rescheduled"
        ? expectTasks(taskIds(end, "Scheduled"), 1)
        : expectTasks(taskIds(end, "Ready"), 1),
  },
  {
    name: "reschedule-x-hand-over",
    about: "a waiting task is handed the slot while it is put off: it gives the slot on",
    setup: [
      register({ limit: 4 }),
      enqueue([g, g, g]),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
    ],
    readersWait: true,
    waits: [groupRow],
    callers: [
      [work({ execution: 1, call: 2, done: [{ task: 1, fence: 1 }] })],
      [reschedule(60_000, 2)],
    ],
    ends: (end) =>
      allOf(
        expectTasks(taskIds(end, "Scheduled"), 2),
        expectTasks(taskIds(end, "Ready"), 3),
        expectTasks(taskIds(end, "GroupSlot"), 3),
      ),
  },
  {
    name: "reschedule-x-enqueue-into-its-group",
    about: "a ready task gives its slot to a new one, or to nobody",
    setup: [register(), enqueue([g])],
    readersWait: true,
    waits: [groupRow],
    callers: [[reschedule(60_000, 1)], [enqueue([g])]],
    ends: (end) => expectTasks(taskIds(end, "Ready"), 2),
  },
  {
    name: "reschedule-x-cancel",
    about: "a task is put off while it is cancelled: it ends, or is asked to",
    setup: [register(), enqueue([g])],
    readersWait: true,
    waits: [groupRow, requestedTask],
    callers: [[reschedule(60_000, 1)], [cancel(1)]],
    ends: (end) =>
      told(end, 1) === "cancelled"
        ? expectTasks(taskIds(end, "Archive"), 1)
        : expectTasks(taskIds(end, "Scheduled"), 1),
  },
];
