import {
  complete,
  enqueue,
  fail,
  finish,
  promote,
  reclaim,
  register,
  start,
  together,
  work,
} from "../calls";
import type { NewTask } from "../calls";
import { allOf, expectTasks, taskIds, unfinishedIds } from "../endings";
import { leaseOver } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { executionRow, groupRow, latch, only } from "../permitted-waits";

const g: NewTask = { group: "g" };
const h: NewTask = { group: "h" };
const waits = [groupRow, latch];

/** Task 1 of group g is claimed by the first of two workers, under fence 1. */
const oneRuns = [
  register({ limit: 4 }),
  enqueue([g]),
  start(1, 2),
  start(2, 2),
  work({ execution: 1, call: 1, want: 1 }),
];

/** Tasks 1 of g and 2 of h are claimed by the first worker, 3 of g and 4 of h wait. */
const bothRun = [
  register({ limit: 4 }),
  enqueue([g, h, g, h]),
  start(1, 2),
  start(2, 2),
  work({ execution: 1, call: 1, want: 2 }),
];

const endOfFirst = work({ execution: 1, call: 2, done: [{ task: 1, fence: 1 }] });

/** The gates of groups: calls that fill, free or hand over slots (lock level 7). */
export const groupCases: readonly ModelCase[] = [
  {
    name: "enqueue-x-hand-over",
    about:
      "a task is added to a group while the group's only running task ends: it gets the slot, it isn't left waiting",
    setup: oneRuns,
    callers: [[endOfFirst], [enqueue([g])]],
    waits,
    ends: (end) => expectTasks(taskIds(end, "Ready"), 2),
  },
  {
    name: "enqueue-x-hand-over-by-fail",
    about: "the same while the running task fails and leaves its slot",
    setup: oneRuns,
    callers: [[fail(1, { task: 1, fence: 1, retryInMs: 1_000 })], [enqueue([g])]],
    waits,
    ends: (end) => expectTasks(taskIds(end, "Ready"), 2),
  },
  {
    name: "enqueue-x-strict-fail",
    about: "in a strict group a failed task keeps its slot: the new one waits",
    setup: [register({ limit: 4, groupStrict: true }), ...oneRuns.slice(1)],
    callers: [[fail(1, { task: 1, fence: 1, retryInMs: 1_000 })], [enqueue([g])]],
    waits,
    ends: (end) =>
      allOf(expectTasks(taskIds(end, "Ready")), expectTasks(taskIds(end, "GroupWaiting"), 2)),
  },
  {
    name: "end-x-end-of-a-group",
    about: "two running tasks of a group with two slots end at once: both who wait come in",
    setup: [
      register({ limit: 4, groupSlots: 2 }),
      enqueue([g, g, g, g]),
      start(1, 1),
      start(2, 1),
      work({ execution: 1, call: 1, want: 1 }),
      work({ execution: 2, call: 1, want: 1 }),
    ],
    callers: [[complete(1, { task: 1, fence: 1 })], [complete(2, { task: 2, fence: 2 })]],
    waits,
    ends: (end) => expectTasks(taskIds(end, "Ready"), 3, 4),
  },
  {
    name: "ends-of-two-groups-in-two-orders",
    about:
      "two workers end tasks of the same two groups, told in opposite order: the lower group comes first",
    setup: [
      register({ limit: 4, groupSlots: 2 }),
      enqueue([g, h, g, h]),
      start(1, 2),
      start(2, 2),
      work({ execution: 1, call: 1, want: 2 }),
      work({ execution: 2, call: 1, want: 2 }),
    ],
    callers: [
      [
        work({
          execution: 1,
          call: 2,
          done: [
            { task: 1, fence: 1 },
            { task: 2, fence: 1 },
          ],
        }),
      ],
      [
        work({
          execution: 2,
          call: 2,
          done: [
            { task: 4, fence: 2 },
            { task: 3, fence: 2 },
          ],
        }),
      ],
    ],
    waits,
    ends: (end) => expectTasks(taskIds(end, "Archive"), 1, 2, 3, 4),
  },
  {
    name: "ends-of-two-groups-x-enqueue-of-both",
    about:
      "a worker ends tasks of two groups, the higher one told first, while an enqueue fills both",
    setup: bothRun,
    callers: [
      [
        work({
          execution: 1,
          call: 2,
          done: [
            { task: 2, fence: 1 },
            { task: 1, fence: 1 },
          ],
        }),
      ],
      [enqueue([h, g])],
    ],
    waits,
    ends: (end) => expectTasks(taskIds(end, "Ready"), 3, 4),
  },
  {
    name: "enqueue-x-hand-over-with-time-outs",
    about: "the same gate, where whoever waits may give up: nothing is half done",
    setup: oneRuns,
    callers: [[endOfFirst], [enqueue([g])]],
    waits,
    errors: [1222],
    mayTimeOut: true,
  },
  {
    name: "claim-x-hand-over",
    about: "a claim while a group's next task becomes ready: nobody waits",
    setup: bothRun,
    callers: [
      [
        work({
          execution: 1,
          call: 2,
          done: [
            { task: 1, fence: 1 },
            { task: 2, fence: 1 },
          ],
        }),
      ],
      [work({ execution: 2, call: 1, want: 2 })],
    ],
    ends: (end) => expectTasks(unfinishedIds(end), 3, 4),
  },
  {
    name: "enqueue-x-enqueue-of-a-new-group",
    about: "two enqueues make the same new group: one row, one slot",
    setup: [register()],
    callers: [[enqueue([g])], [enqueue([g])]],
    waits,
    ends: (end) =>
      allOf(
        end.rows("TaskGroup").length === 1 ? undefined : "the group was made twice",
        expectTasks(taskIds(end, "Ready").slice(1)),
      ),
  },
  {
    name: "enqueue-x-enqueue-of-new-groups-in-two-orders",
    about: "two enqueues make the same two new groups, named in opposite order",
    setup: [register()],
    callers: [[enqueue([g, h])], [enqueue([h, g])]],
    waits,
    ends: (end) => (end.rows("TaskGroup").length === 2 ? undefined : "expected two groups"),
  },
  {
    name: "enqueue-x-enqueue-of-groups-in-two-orders",
    about: "the same with groups that exist",
    setup: [register(), enqueue([g, h])],
    callers: [[enqueue([g, h])], [enqueue([h, g])]],
    waits,
    ends: (end) => expectTasks(taskIds(end, "GroupWaiting"), 3, 4, 5, 6),
  },
  {
    name: "user-transactions-with-new-groups",
    about:
      "two users' transactions add grouped tasks, in opposite order: promotion makes the groups, nobody waits",
    setup: [register()],
    callers: [[together(enqueue([g]), enqueue([h]))], [together(enqueue([h]), enqueue([g]))]],
    ends: (end) => expectTasks(taskIds(end, "Scheduled"), 1, 2, 3, 4),
  },
  {
    name: "enqueue-x-user-transaction-of-a-group",
    about: "an enqueue and a user's transaction add to one group: only the first locks it",
    setup: [register(), enqueue([g])],
    callers: [[enqueue([g])], [together(enqueue([g]))]],
    waits,
  },
  {
    name: "promote-x-hand-over",
    about:
      "a due task of a group is promoted while the group's running task ends: ready, or left for the next call",
    setup: [...oneRuns, together(enqueue([g]))],
    callers: [[promote], [endOfFirst]],
    waits: [only(1, groupRow)],
  },
  {
    name: "promote-x-enqueue-of-new-groups",
    about: "promotion makes a group that an enqueue makes, too: one row, promotion doesn't wait",
    setup: [register(), together(enqueue([g, h]))],
    callers: [[promote], [enqueue([h, g])]],
    waits: [only(1, groupRow), only(1, latch)],
    ends: (end) => (end.rows("TaskGroup").length <= 2 ? undefined : "a group was made twice"),
  },
  {
    name: "promote-x-promote-of-a-new-group",
    about: "two promotions of one new group: neither waits, one row",
    setup: [register(), together(enqueue([g]))],
    callers: [[promote], [promote]],
  },
  {
    name: "work-with-promotion-x-enqueue-of-groups",
    about:
      "a call that ends a task of group g and promotes one of a new group, against an enqueue that holds the new group and wants g",
    setup: [...oneRuns, together(enqueue([h]))],
    callers: [
      [work({ execution: 1, call: 2, want: 1, done: [{ task: 1, fence: 1 }] })],
      [enqueue([h, g])],
    ],
    waits,
  },
  {
    name: "promote-x-register",
    about: "promotion makes a group while the definition's settings are written",
    setup: [register(), together(enqueue([g]))],
    callers: [[promote], [register({ build: 2, limit: 3 })]],
    readersWait: true,
    ends: keepsItsGroup,
  },
  {
    name: "promote-x-enqueue-of-one-of-two-new-groups",
    about:
      "promotion finds two groups to be made while somebody makes one of them: the other one's task is moved, nobody waits",
    setup: [register(), together(enqueue([g, h]))],
    callers: [[promote], [enqueue([g])]],
    waits: [only(1, groupRow), only(1, latch)],
    ends: (end) =>
      allOf(
        taskIds(end, "Ready").includes(2) ? undefined : "the other group's task was left",
        keepsItsGroup(end),
      ),
  },
  {
    name: "reclaim-x-hand-over",
    about:
      "a dead worker's last task of a group ends while a live one ends another of its tasks: groups ascending",
    isLong: ["locking", "versioned"],
    setup: [
      register({ limit: 4, lostMax: 0, groupSlots: 2 }),
      enqueue([g, h, g, h, g]),
      start(1, 2),
      work({ execution: 1, call: 1, want: 2 }),
      leaseOver,
      start(2, 2),
      work({ execution: 2, call: 1, want: 2 }),
    ],
    callers: [
      [reclaim],
      [
        work({
          execution: 2,
          call: 2,
          done: [
            { task: 4, fence: 2 },
            { task: 3, fence: 2 },
          ],
        }),
      ],
    ],
    waits: [groupRow, executionRow],
    ends: (end) => expectTasks(taskIds(end, "Ready"), 5),
  },
  {
    name: "finish-x-enqueue-of-a-group",
    about: "an execution that ends gives a grouped task back with its slot, while another is added",
    readersWait: true,
    setup: oneRuns,
    callers: [[finish(1)], [enqueue([g])]],
    waits,
    ends: (end) =>
      allOf(expectTasks(taskIds(end, "Ready"), 1), expectTasks(taskIds(end, "GroupWaiting"), 2)),
  },
];

/** Task 1 has its group, or still the key by which it will be made. */
function keepsItsGroup(end: Ending): string | undefined {
  const row = end.rows("Task").find((task) => task["TaskId"] === 1);
  const hasGroup = row?.["GroupId"] != null || row?.["PendingGroupKey"] != null;
  return hasGroup ? undefined : "the task has lost its group";
}

export const longGroupCases: readonly ModelCase[] = [
  {
    name: "promote-x-promote-of-two-new-groups",
    about: "two promotions of two new groups",
    setup: [register(), together(enqueue([g, h]))],
    callers: [[promote], [promote]],
    isLong: true,
  },
  {
    name: "enqueue-x-hand-over-x-promote",
    about: "a group's task ends while another is added and a third is promoted",
    setup: [...oneRuns, together(enqueue([g]))],
    callers: [[endOfFirst], [enqueue([g])], [promote]],
    waits: [0, 1].flatMap((caller) => waits.map((wait) => only(caller, wait))),
    isLong: true,
  },
  {
    name: "three-ends-of-a-group",
    about: "three running tasks of a group with three slots end at once",
    setup: [
      register({ limit: 4, groupSlots: 3 }),
      enqueue([g, g, g, g, g, g]),
      start(1, 1),
      start(2, 1),
      start(3, 1),
      ...[1, 2, 3].map((execution) => work({ execution, call: 1, want: 1 })),
    ],
    callers: [1, 2, 3].map((execution) => [
      complete(execution, { task: execution, fence: execution }),
    ]),
    waits,
    isLong: true,
    ends: (end) => expectTasks(taskIds(end, "Ready"), 4, 5, 6),
  },
];
