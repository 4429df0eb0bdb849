import {
  complete,
  enqueue,
  fail,
  finish,
  plainTasks,
  progress,
  reclaim,
  register,
  requestCancel,
  start,
  work,
} from "../calls";
import {
  allOf,
  claimedBy,
  claimedTasks,
  expectTasks,
  isAny,
  statusOf,
  taskIds,
  unfinishedIds,
} from "../endings";
import { later, leaseOver } from "../model-case";
import type { ModelCase, SetupStep } from "../model-case";
import { cancelledTask, executionRow } from "../permitted-waits";

/** Two workers with two tokens each, and so many tasks that are ready. */
function twoWorkers(tasks: number): SetupStep[] {
  return [register({ limit: 4 }), enqueue(plainTasks(tasks)), start(1, 2), start(2, 2)];
}

/** The first of them has claimed tasks 1 and 2, under fence 1. */
function firstHasClaimed(tasks: number): SetupStep[] {
  return [...twoWorkers(tasks), work({ execution: 1, call: 1, want: 2 })];
}

const firstClaims = work({ execution: 1, call: 1, want: 2 });
const secondClaims = work({ execution: 2, call: 1, want: 2 });
const doneFirst = { task: 1, fence: 1 };

/** Claims against everything that moves tasks: none of them waits. */
export const claimCases: readonly ModelCase[] = [
  {
    name: "claim-x-claim",
    about: "two claims of two: four different tasks, the first four, nobody waits",
    setup: twoWorkers(5),
    callers: [[firstClaims], [secondClaims]],
    ends: (end) => expectTasks(claimedTasks(end), 1, 2, 3, 4),
  },
  {
    name: "claim-x-claim-few",
    about: "two claims of two where three are ready: all three are claimed",
    isLong: ["locking", "versioned"],
    setup: twoWorkers(3),
    callers: [[firstClaims], [secondClaims]],
    ends: (end) => expectTasks(claimedTasks(end), 1, 2, 3),
  },
  {
    name: "claim-x-claim-with-hint",
    about: "a claim that begins its search at a place against one that begins at the head",
    isLong: ["locking", "versioned"],
    setup: twoWorkers(4),
    callers: [
      [work({ execution: 1, call: 1, want: 2, after: { priority: 100, rank: 0, task: 2 } })],
      [secondClaims],
    ],
    ends: (end) =>
      claimedBy(end.answers[0]?.[0]).includes(1) ? "the claim looked before its place" : undefined,
  },
  {
    name: "claim-x-same-claim",
    about: "a claim and its repeat: one claim, the same answer",
    setup: [register({ limit: 2 }), enqueue(plainTasks(3)), start(1, 2)],
    callers: [[firstClaims], [firstClaims]],
    waits: [executionRow],
    ends: (end) =>
      allOf(
        expectTasks(claimedTasks(end), 1, 2),
        expectTasks(claimedBy(end.answers[0]?.[0]), 1, 2),
        expectTasks(claimedBy(end.answers[1]?.[0]), 1, 2),
      ),
  },
  {
    name: "claim-x-progress",
    about:
      "a worker tells of a task that it lost while another claims it: it is told so, and doesn't wait",
    setup: [
      register({ limit: 2 }),
      enqueue(plainTasks(1)),
      start(1, 1),
      start(2, 1),
      firstClaims,
      fail(1, doneFirst),
    ],
    callers: [[secondClaims], [progress(1, doneFirst)]],
    ends: (end) =>
      allOf(expectTasks(claimedBy(end.answers[0]?.[0]), 1), isAny(end.answers[1]?.[0], "fenced")),
  },
  {
    name: "claim-x-complete",
    about: "one claims while another completes: neither waits",
    setup: firstHasClaimed(4),
    callers: [
      [work({ execution: 1, call: 2, want: 1, done: [doneFirst, { task: 2, fence: 1 }] })],
      [secondClaims],
    ],
    ends: (end) =>
      allOf(expectTasks(taskIds(end, "Archive"), 1, 2), expectTasks(unfinishedIds(end), 3, 4)),
  },
  {
    name: "complete-x-complete",
    about: "two workers complete different tasks: neither waits",
    setup: [...firstHasClaimed(4), secondClaims],
    callers: [
      [work({ execution: 1, call: 2, done: [doneFirst, { task: 2, fence: 1 }] })],
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
    ends: (end) => expectTasks(taskIds(end, "Archive"), 1, 2, 3, 4),
  },
  {
    name: "complete-x-same-complete",
    about: "a completion in a user's transaction and its repeat: done once, then `again`",
    setup: firstHasClaimed(2),
    callers: [[complete(1, doneFirst)], [complete(1, doneFirst)]],
    waits: [executionRow],
    ends: (end) => {
      const found = end.answers
        .map(([answer]) => statusOf(answer))
        .sort()
        .join();
      return found === "again,done" ? undefined : `the answers are ${found}`;
    },
  },
  {
    name: "complete-x-fail",
    about: "a task is told done and failed at once: one of them counts",
    setup: firstHasClaimed(2),
    callers: [[complete(1, doneFirst)], [fail(1, doneFirst)]],
    waits: [executionRow],
  },
  {
    name: "work-x-complete",
    about: "one execution completes two tasks in two ways at once",
    setup: firstHasClaimed(3),
    callers: [
      [work({ execution: 1, call: 2, want: 1, done: [doneFirst] })],
      [complete(1, { task: 2, fence: 1 })],
    ],
    waits: [executionRow],
    ends: (end) => expectTasks(taskIds(end, "Archive"), 1, 2),
  },
  {
    name: "claim-x-fail",
    about: "a claim while a failed task is put back for later",
    setup: firstHasClaimed(4),
    callers: [[secondClaims], [fail(1, doneFirst, { task: 2, fence: 1, as: "dead" })]],
    ends: (end) =>
      allOf(expectTasks(unfinishedIds(end), 1, 3, 4), expectTasks(taskIds(end, "Archive"), 2)),
  },
  {
    name: "stale-complete-x-work",
    about:
      "a completion under an old fence arrives after the same execution has claimed the task again: refused",
    setup: [
      register({ limit: 2 }),
      enqueue(plainTasks(1)),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      fail(1, doneFirst),
      work({ execution: 1, call: 2, want: 1 }),
    ],
    callers: [[complete(1, doneFirst)], [work({ execution: 1, call: 3, done: [doneFirst] })]],
    waits: [executionRow],
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[0], "fenced"),
        end.answers[1]?.[0]?.rows[0]?.["RefusedTaskIds"] === "1"
          ? undefined
          : "the completion was accepted",
      ),
  },
  {
    name: "fail-x-same-fail",
    about: "a failure and its repeat: counted once",
    setup: firstHasClaimed(2),
    callers: [[fail(1, doneFirst)], [fail(1, doneFirst)]],
    waits: [executionRow],
    ends: (end) =>
      end.rows("Task").every((row) => Number(row["FailedCount"]) <= 1)
        ? undefined
        : "the failure counts twice",
  },
  {
    name: "claim-x-finish",
    about: "a claim while the end of an execution gives tasks back: each task is in one place",
    readersWait: true,
    setup: firstHasClaimed(3),
    callers: [[secondClaims], [finish(1)]],
    ends: (end) => isAny(end.answers[0]?.[0], "claimed"),
  },
  {
    name: "finish-x-complete",
    about: "an execution ends while its last completion arrives: the task is done, or ready again",
    readersWait: true,
    setup: firstHasClaimed(2),
    callers: [[finish(1)], [complete(1, doneFirst)]],
    waits: [executionRow],
    ends: (end) =>
      allOf(
        expectTasks(taskIds(end, "Claim")),
        expectTasks(
          taskIds(end, "Archive"),
          ...(statusOf(end.answers[1]?.[0]) === "done" ? [1] : []),
        ),
      ),
  },
  {
    name: "claim-x-reclaim",
    about: "a claim while a dead worker's tasks are taken back",
    setup: [...firstHasClaimed(3), leaseOver, start(3, 2)],
    callers: [[work({ execution: 3, call: 1, want: 2 })], [reclaim]],
    ends: (end) => isAny(end.answers[0]?.[0], "claimed"),
  },
  {
    name: "claim-x-cancel",
    about:
      "a cancel is requested while the task is claimed: the worker is told now or at its next call",
    setup: twoWorkers(3),
    callers: [[firstClaims], [requestCancel(1)]],
    readersWait: true,
    ends: (end) => expectTasks(claimedTasks(end), 1, 2),
  },
  {
    name: "complete-x-cancel",
    about: "a cancel is requested while the task ends",
    setup: firstHasClaimed(2),
    callers: [[work({ execution: 1, call: 2, done: [doneFirst] })], [requestCancel(1)]],
    waits: [cancelledTask],
    ends: (end) => expectTasks(taskIds(end, "Archive"), 1),
  },
  {
    name: "fail-x-cancel",
    about:
      "a cancel is requested while the task fails: it is cancelled, or comes back with the request",
    setup: firstHasClaimed(2),
    callers: [[fail(1, doneFirst)], [requestCancel(1)]],
    waits: [cancelledTask],
  },
  {
    name: "finish-x-cancel",
    about: "a cancel is requested while the task is given back: it lands in one place, not nowhere",
    setup: firstHasClaimed(2),
    callers: [[finish(1)], [requestCancel(1)]],
    waits: [cancelledTask],
  },
  {
    name: "claim-solo-x-claim",
    about:
      "a task that was lost twice stands first: it is claimed alone, or left for a claim that can",
    isLong: ["locking", "versioned"],
    setup: [
      ...twoWorkers(3),
      {
        kind: "batch",
        calls: [],
        sql: `UPDATE Taskgate.Task SET LostCount = 2 WHERE TaskId = 1;
UPDATE r SET IsSolo = 1 FROM Taskgate.Ready AS r WITH (INDEX (PK_Ready)) WHERE r.TaskId = 1;`,
      },
    ],
    callers: [[firstClaims], [secondClaims]],
    ends: (end) => {
      const solo = end.answers.flat().find((answer) => claimedBy(answer).includes(1));
      return solo === undefined ? undefined : expectTasks(claimedBy(solo), 1);
    },
  },
];

export const longClaimCases: readonly ModelCase[] = [
  {
    name: "three-claims",
    about: "three claims of two where five are ready: all five are claimed, each once",
    setup: [register({ limit: 6 }), enqueue(plainTasks(5)), start(1, 2), start(2, 2), start(3, 2)],
    callers: [1, 2, 3].map((execution) => [work({ execution, call: 1, want: 2 })]),
    isLong: true,
    ends: (end) => expectTasks(claimedTasks(end), 1, 2, 3, 4, 5),
  },
  {
    name: "claim-x-complete-x-fail",
    about: "one claims, one completes, one fails tasks: nobody waits",
    setup: [
      register({ limit: 4 }),
      enqueue(plainTasks(4)),
      start(1, 1),
      start(2, 1),
      start(3, 2),
      work({ execution: 1, call: 1, want: 1 }),
      work({ execution: 2, call: 1, want: 1 }),
    ],
    callers: [
      [work({ execution: 1, call: 2, want: 1, done: [doneFirst] })],
      [fail(2, { task: 2, fence: 2 })],
      [work({ execution: 3, call: 1, want: 2 })],
    ],
    isLong: true,
  },
  {
    name: "claim-x-finish-x-reclaim",
    about:
      "tasks come back from an execution that ends and from a dead worker while a third claims",
    setup: [
      register({ limit: 4 }),
      enqueue(plainTasks(3)),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      later(30_000),
      start(2, 1),
      work({ execution: 2, call: 1, want: 1 }),
      start(3, 2),
      later(30_001),
    ],
    readersWait: true,
    callers: [[work({ execution: 3, call: 1, want: 2 })], [finish(2)], [reclaim]],
    waits: [executionRow],
    isLong: true,
  },
];
