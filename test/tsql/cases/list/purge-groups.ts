import {
  cancel,
  complete,
  enqueue,
  explain,
  fail,
  listGroups,
  promote,
  purge,
  redrive,
  register,
  reschedule,
  setGroup,
  start,
  work,
} from "../calls";
import type { Call, NewTask } from "../calls";
import { allOf, expectTasks, numberOf, taskIds } from "../endings";
import { later } from "../model-case";
import type { Ending, ModelCase, SetupStep } from "../model-case";
import { groupRow, latch } from "../permitted-waits";

const g: NewTask = { group: "g" };
const first = { task: 1, fence: 1 };

/** Task 1 of group g is claimed by execution 1. */
const runs: readonly SetupStep[] = [
  register({ limit: 2 }),
  enqueue([g]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
];

/** Group g is unused. */
const idle: readonly SetupStep[] = [...runs, complete(1, first)];

/** Task 1 of group g is to be tried again, and due. */
const retries: readonly SetupStep[] = [
  ...runs,
  fail(1, { ...first, retryInMs: 1_000 }),
  later(1_000),
];

/** Task 1 of group g is a dead letter. */
const dead: readonly SetupStep[] = [...runs, fail(1, { ...first, as: "dead" })];

function removed(end: Ending): number {
  return end.answers.flat().reduce((sum, answer) => sum + numberOf(answer, "Groups"), 0);
}

/** These tasks hold slots, those are scheduled, and there are so many groups. */
function stands(
  end: Ending,
  { slots, scheduled = [], groups }: { slots: number[]; scheduled?: number[]; groups: number },
): string | undefined {
  const found = end.rows("TaskGroup").length;
  return allOf(
    expectTasks(taskIds(end, "GroupSlot"), ...slots),
    expectTasks(taskIds(end, "Scheduled"), ...scheduled),
    found === groups ? undefined : `${String(found)} groups`,
  );
}

/** A purge of groups beside a call that may want one of them. */
function beside(
  name: string,
  about: string,
  {
    others,
    ...rest
  }: Pick<ModelCase, "setup" | "ends" | "isLong"> & { readonly others: readonly Call[] },
): ModelCase {
  return {
    name: `purge-of-groups-x-${name}`,
    about,
    readersWait: true,
    waits: [groupRow, latch],
    callers: [[purge(10)], ...others.map((call) => [call])],
    ...rest,
  };
}

/** Calls that need a group while it is removed: it stays, or is made anew, and no task is lost with it. */
export const purgeGroupCases: readonly ModelCase[] = [
  beside("purge", "two purges of one group: it goes once", {
    setup: idle,
    others: [purge(10)],
    ends: (end) =>
      allOf(
        stands(end, { slots: [], groups: 0 }),
        removed(end) === 1 ? undefined : `${String(removed(end))} were removed`,
      ),
  }),
  beside(
    "enqueue",
    "a task comes for it: it has the slot, or the group was gone and promotion makes it",
    {
      setup: idle,
      others: [enqueue([g])],
      ends: (end) =>
        end.rows("Scheduled").length === 0
          ? stands(end, { slots: [2], groups: 1 })
          : stands(end, { slots: [], scheduled: [2], groups: 0 }),
    },
  ),
  beside("enqueue-and-enqueue", "two tasks come for it: one of them at most has the slot", {
    setup: idle,
    others: [enqueue([g]), enqueue([g])],
    isLong: true,
    ends: (end) => {
      const slots = end.rows("GroupSlot").length;
      return slots <= 1 ? undefined : `${String(slots)} slots`;
    },
  }),
  beside("promote", "a retry that is due makes its group again, or keeps it", {
    setup: retries,
    others: [promote],
    ends: (end) =>
      end.rows("Scheduled").length === 0
        ? stands(end, { slots: [1], groups: 1 })
        : stands(end, { slots: [], scheduled: [1], groups: 0 }),
  }),
  beside(
    "promote-and-enqueue",
    "a retry and a new task come for it: one of them at most has the slot",
    {
      setup: retries,
      others: [promote, enqueue([g])],
      isLong: true,
      ends: (end) => {
        const slots = end.rows("GroupSlot").length;
        return slots <= 1 ? undefined : `${String(slots)} slots`;
      },
    },
  ),
  beside("fail", "its only task leaves it for a retry: it goes after that, not before", {
    setup: runs,
    others: [fail(1, { ...first, retryInMs: 1_000 })],
    ends: (end) => stands(end, { slots: [], scheduled: [1], groups: 1 - removed(end) }),
  }),
  beside("complete", "its only task ends: it goes after that, not before", {
    setup: runs,
    others: [complete(1, first)],
    ends: (end) => stands(end, { slots: [], groups: 1 - removed(end) }),
  }),
  beside("death", "its only task becomes a dead letter, which may be redriven: it stays", {
    setup: runs,
    others: [fail(1, { ...first, as: "dead" })],
    ends: (end) => stands(end, { slots: [], groups: 1 }),
  }),
  beside("redrive", "a dead letter finds its group", {
    setup: dead,
    others: [redrive(1)],
    ends: (end) => stands(end, { slots: [1], groups: 1 }),
  }),
  beside(
    "purge-of-its-dead-letter",
    "its last dead letter goes with another purge: it goes after that, not before",
    {
      setup: [...dead, later(31 * 86_400_000)],
      others: [purge(10)],
      ends: (end) => stands(end, { slots: [], groups: 1 - removed(end) }),
    },
  ),
  beside(
    "redrive-of-an-old-dead-letter",
    "a dead letter and its group are old enough to go while it is redriven",
    {
      setup: [...dead, later(31 * 86_400_000)],
      others: [redrive(1)],
      ends: (end) =>
        end.rows("Ready").length === 1
          ? stands(end, { slots: [1], groups: 1 })
          : stands(end, { slots: [], groups: 1 - removed(end) }),
    },
  ),
  beside("reschedule", "its ready task leaves it for later: it goes after that, not before", {
    setup: [register({ limit: 2 }), enqueue([g])],
    others: [reschedule(60_000, 1)],
    ends: (end) => stands(end, { slots: [], scheduled: [1], groups: 1 - removed(end) }),
  }),
  beside("cancel", "its waiting task is cancelled and may be redriven: it stays", {
    setup: [register({ limit: 2 }), enqueue([g, g])],
    others: [cancel(2)],
    ends: (end) => stands(end, { slots: [1], groups: 1 }),
  }),
  beside("set-group", "an operator sets it: it stays, or is made again", {
    setup: idle,
    others: [setGroup("g", { slots: 2 })],
    ends: (end) =>
      allOf(
        stands(end, { slots: [], groups: 1 }),
        end.rows("TaskGroup")[0]?.["Slots"] === 2 ? undefined : "it has other slots",
        end.rows("GroupKept").length === 1 ? undefined : "it isn't kept",
      ),
  }),
  {
    name: "purge-of-groups-x-enqueue-and-cancel",
    about: "a task comes for it, is cancelled and may be redriven: it stays, or promotion makes it",
    setup: idle,
    readersWait: true,
    waits: [groupRow, latch],
    callers: [[purge(10)], [enqueue([g]), cancel(2)]],
    // Its group is there if the archive names one: that is an invariant.
    ends: (end) => expectTasks(taskIds(end, "GroupSlot")),
  },
  beside("list-groups", "somebody looks at groups", {
    setup: idle,
    others: [listGroups],
    ends: (end) => stands(end, { slots: [], groups: 0 }),
  }),
  beside("explain", "somebody asks for a task whose group goes", {
    setup: retries,
    others: [explain(1)],
    ends: (end) => stands(end, { slots: [], scheduled: [1], groups: 0 }),
  }),
];
