import { cancel, enqueue, listGroups, promote, register, setGroup, start, work } from "../calls";
import type { NewTask } from "../calls";
import { allOf, expectTasks, isAny, numberOf, oneOf, taskIds } from "../endings";
import { later } from "../model-case";
import type { ModelCase } from "../model-case";
import { groupRow, latch } from "../permitted-waits";

const g: NewTask = { group: "g" };

/** Task 1 of group g runs under fence 1, 2 and 3 wait. */
const full = [
  register({ limit: 4 }),
  enqueue([g, g, g]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
];
const end = work({ execution: 1, call: 2, done: [{ task: 1, fence: 1 }] });

/** An operator changes a group while others go through its gate. */
export const groupSettingCases: readonly ModelCase[] = [
  {
    name: "more-slots-x-hand-over",
    about: "a slot is added while the running task ends: both who wait come in",
    setup: full,
    readersWait: true,
    waits: [groupRow],
    callers: [[setGroup("g", { slots: 2 })], [end]],
    ends: (now) => expectTasks(taskIds(now, "Ready"), 2, 3),
  },
  {
    name: "fewer-slots-x-hand-over",
    about: "a slot is taken away while a task ends: nothing is handed over beyond the new number",
    setup: [
      register({ limit: 4, groupSlots: 2 }),
      enqueue([g, g, g]),
      start(1, 2),
      work({ execution: 1, call: 1, want: 2 }),
    ],
    readersWait: true,
    waits: [groupRow],
    callers: [[setGroup("g", { slots: 1 })], [end]],
    ends: (now) => {
      // The end came first: 3 is in already. Else it waits until 2 ends, too.
      const used = numberOf(now.answers[0]?.[0], "Used");
      const waiting = numberOf(now.answers[0]?.[0], "Waiting");
      return used === 2 ? undefined : `${String(used)} slots were used, ${String(waiting)} waited`;
    },
  },
  {
    name: "pause-of-a-group-x-hand-over",
    about: "a group is paused while its task ends: the next one comes in before, or not at all",
    setup: full,
    readersWait: true,
    waits: [groupRow],
    callers: [[setGroup("g", { paused: true })], [end]],
    ends: (now) =>
      numberOf(now.answers[0]?.[0], "Waiting") === 2
        ? expectTasks(taskIds(now, "GroupWaiting"), 2, 3)
        : expectTasks(taskIds(now, "Ready"), 2),
  },
  {
    name: "resume-of-a-group-x-enqueue",
    about: "a paused group is resumed while a task is added: who waited comes first",
    setup: [register({ limit: 4 }), setGroup("g", { paused: true }), enqueue([g])],
    readersWait: true,
    waits: [groupRow],
    callers: [[setGroup("g", { paused: false })], [enqueue([g])]],
    ends: (now) =>
      allOf(expectTasks(taskIds(now, "Ready"), 1), expectTasks(taskIds(now, "GroupWaiting"), 2)),
  },
  {
    name: "make-a-group-x-enqueue",
    about: "an operator and an enqueue make the same group: there is one, with one task in",
    setup: [register({ limit: 4 })],
    readersWait: true,
    waits: [groupRow, latch],
    callers: [[setGroup("g", { slots: 2 })], [enqueue([g, g])]],
    ends: (now) =>
      now.rows("TaskGroup").length === 1
        ? allOf(
            isAny(now.answers[0]?.[0], "created", "set"),
            expectTasks(taskIds(now, "Ready"), 1, 2),
          )
        : "the group was made twice",
  },
  {
    name: "make-a-group-x-make-a-group",
    about: "two operators make the same group: one of them makes it, the other one sets it",
    setup: [register({ limit: 4 })],
    readersWait: true,
    waits: [groupRow, latch],
    callers: [[setGroup("g", { slots: 2 })], [setGroup("g", { slots: 3 })]],
    ends: (now) =>
      allOf(
        oneOf(now, "created", "set"),
        now.rows("TaskGroup").length === 1 ? undefined : "the group was made twice",
      ),
  },
  {
    name: "more-slots-x-promote",
    about: "a slot is added while a due task is promoted into the group: nobody overtakes",
    setup: [register({ limit: 4 }), enqueue([g, g, { ...g, runInMs: 10 }]), later(11)],
    readersWait: true,
    waits: [groupRow],
    callers: [[setGroup("g", { slots: 2 })], [promote]],
    ends: (now) => expectTasks(taskIds(now, "Ready"), 1, 2),
  },
  {
    name: "more-slots-x-cancel",
    about: "a slot is added while who waits first is cancelled: the next one has it",
    setup: full,
    readersWait: true,
    waits: [groupRow],
    callers: [[setGroup("g", { slots: 2 })], [cancel(2)]],
    ends: (now) => expectTasks(taskIds(now, "Ready"), 3),
  },
  {
    name: "list-of-groups-x-hand-over",
    about: "groups are listed while one is handed over",
    setup: full,
    readersWait: true,
    victims: [1],
    callers: [[end], [listGroups]],
  },
];
