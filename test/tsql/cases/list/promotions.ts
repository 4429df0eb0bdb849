import {
  enqueue,
  fail,
  pause,
  promote,
  register,
  requestCancel,
  start,
  sweep,
  work,
} from "../calls";
import { allOf, expectTasks, isAny, taskIds, unfinishedIds } from "../endings";
import { later } from "../model-case";
import type { ModelCase } from "../model-case";

const soon = { runInMs: 10 };
const due = [register({ limit: 4 }), enqueue([soon, soon]), start(1, 2), start(2, 2), later(11)];

/** Due tasks leave for the ready ones; a call that moves them skips locked rows. */
export const promotionCases: readonly ModelCase[] = [
  {
    name: "promote-x-promote",
    about: "two promotions: each task is promoted once, nobody waits",
    setup: due,
    callers: [[promote], [promote]],
    ends: (end) =>
      allOf(expectTasks(taskIds(end, "Ready"), 1, 2), expectTasks(taskIds(end, "Scheduled"))),
  },
  {
    name: "promote-x-claim",
    about: "a claim, which promotes as well, while tasks are promoted",
    isLong: ["locking", "versioned"],
    setup: due,
    callers: [[promote], [work({ execution: 1, call: 1, want: 2 })]],
    ends: (end) => expectTasks(unfinishedIds(end), 1, 2),
  },
  {
    name: "claim-x-claim-of-due-tasks",
    about: "two claims that promote what is due before they claim",
    isLong: true,
    setup: due,
    callers: [
      [work({ execution: 1, call: 1, want: 2 })],
      [work({ execution: 2, call: 1, want: 2 })],
    ],
  },
  {
    name: "promote-x-strict-enqueue-and-promote",
    about:
      "a strict group's due task is promoted while another one is enqueued directly and promoted: the first one comes first",
    setup: [register({ groupStrict: true }), enqueue([{ ...soon, group: "g" }]), later(11)],
    callers: [[promote], [enqueue([{ group: "g" }]), promote]],
    readersWait: true,
    ends: (end) =>
      allOf(expectTasks(taskIds(end, "Ready"), 1), expectTasks(unfinishedIds(end), 1, 2)),
  },
  {
    name: "promote-x-cancel",
    about: "a cancel is requested while the task is promoted",
    setup: due,
    callers: [[promote], [requestCancel(1)]],
    readersWait: true,
    ends: (end) => expectTasks(taskIds(end, "Ready"), 1, 2),
  },
  {
    name: "promote-x-fail",
    about: "a failed task is scheduled while due ones are promoted",
    setup: [
      register(),
      enqueue([{}, soon]),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      later(11),
    ],
    callers: [[promote], [fail(1, { task: 1, fence: 1, retryInMs: 0 })]],
  },
  {
    name: "promote-x-sweep",
    about: "the safety net reads while tasks are promoted",
    readersWait: true,
    setup: due,
    callers: [[promote], [sweep]],
  },
  {
    name: "claim-x-pause",
    about: "a definition is paused while tasks are claimed: they are claimed, or not",
    setup: due,
    callers: [[work({ execution: 1, call: 1, want: 2 })], [pause]],
    readersWait: true,
    ends: (end) => isAny(end.answers[0]?.[0], "claimed", "paused"),
  },
];

const threeDue = [
  register({ limit: 4 }),
  enqueue([soon, soon, soon]),
  start(1, 2),
  start(2, 2),
  later(11),
];

export const longPromotionCases: readonly ModelCase[] = [
  {
    name: "claim-x-claim-of-three-due-tasks",
    about: "two claims that promote what is due before they claim, three tasks",
    setup: threeDue,
    callers: [
      [work({ execution: 1, call: 1, want: 2 })],
      [work({ execution: 2, call: 1, want: 2 })],
    ],
    isLong: true,
  },
  {
    name: "promote-x-claim-x-claim",
    about: "two claims and a promotion over the same due tasks",
    setup: due,
    callers: [
      [promote],
      [work({ execution: 1, call: 1, want: 2 })],
      [work({ execution: 2, call: 1, want: 2 })],
    ],
    isLong: true,
  },
];
